#include "engine/refit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/test_support.h"
#include "headrace/functional.h"

namespace headrace {
namespace {

using test::error_of;
using testing::HasSubstr;

Engine engine_with(std::shared_ptr<const WeightSource> weights) {
  return {.origin = "mine.engine",
          .program = Graph::parse("graph g {\n input %x : f32[n, 4]\n param %w : bf16[2, 4]\n param %b : f32[2]\n"
                                  " %y = linear(%x, %w, %b)\n return %y as \"logits\"\n}",
                                  builtin_ops()),
          .vocab_size = 2,
          .max_positions = 8,
          .weights = std::move(weights)};
}

HostTensor floats(const Sizes& sizes, float first) {
  HostTensor tensor(DType::kF32, sizes);
  for (int64_t i = 0; i < sizes.numel(); ++i) tensor.as<float>()[i] = first + float(i);
  return tensor;
}

std::shared_ptr<const WeightSource> weights(float first) {
  return memory_weights({{"w", HostTensor(DType::kBF16, {2, 4})}, {"b", floats({2}, first)}});
}

TEST(Refit, GivesAnEngineItsFirstWeightsOrOthers) {
  Engine engine = engine_with(nullptr);
  EXPECT_THAT(error_of([&] { require_weights(engine); }), HasSubstr("mine.engine: is an engine without weights"));
  EXPECT_THAT(error_of([&] { require_weights(engine); }), HasSubstr("--checkpoint PATH")) << "says what to do";
  for (float first : {1.0f, 5.0f}) {
    refit(engine, weights(first));
    EXPECT_NO_THROW(require_weights(engine));
    EXPECT_EQ(engine.weights->read("b").as<float>()[0], first);
  }
}

TEST(Refit, ListsAllThatDoesNotFitAndLeavesTheEngineAsItWas) {
  const auto old = weights(1);
  Engine engine = engine_with(old);
  const auto misfit = memory_weights({{"w", floats({2, 4}, 0)}, {"b", floats({3}, 0)}, {"c", floats({1}, 0)}});
  EXPECT_EQ(error_of([&] { refit(engine, misfit); }),
            "weights in memory: 3 of its weights do not fit the program of mine.engine\n"
            "  w: the checkpoint has f32[2, 4], the model wants bf16[2, 4]\n"
            "  b: the checkpoint has f32[3], the model wants f32[2]\n"
            "  c: not a parameter of this model\n"
            "An engine takes weights of the names, sizes and types that it was built for; for others build a new one.");
  EXPECT_THAT(error_of([&] { refit(engine, memory_weights({})); }), HasSubstr("w: missing; the model wants bf16[2, 4]"));
  EXPECT_THAT(error_of([&] { refit(engine, nullptr); }), HasSubstr("no weights to give"));
  EXPECT_EQ(engine.weights, old);
}

TEST(Refit, AProgramWithoutParametersWantsNoWeights) {
  Engine engine = engine_with(nullptr);
  engine.program = Graph::parse("graph g {\n input %x : f32[n]\n return %x\n}", builtin_ops());
  EXPECT_NO_THROW(require_weights(engine));
}

}  // namespace
}  // namespace headrace
