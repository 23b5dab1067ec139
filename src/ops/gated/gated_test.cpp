#include "ops/gated/gated.h"

#include "ops/ops.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr Activation kActivations[] = {Activation::kSilu, Activation::kGeluTanh, Activation::kGeluErf, Activation::kRelu};

TEST(Gated, HalvesTheLastAxis) {
  EXPECT_EQ(inferred("gated", Gated(), {"f32[tokens, 64]"}), "f32[tokens, 32]");
  EXPECT_THAT(rejection("gated", Gated(), {"f32[tokens, 63]"}), HasSubstr("even"));
  EXPECT_THAT(rejection("gated", Gated(), {"i32[tokens, 64]"}), HasSubstr("floats"));
}

TEST(Gated, TheFirstHalfIsTheGate) {
  EXPECT_THAT(reference_floats("gated", Gated(), {floats({2, 4}, {1, -2, 10, 100, 0, 3, 5, 2})}),
              Pointwise(FloatNear(1e-5f), {7.310585786f, -23.84058440f, 0.0f, 5.715444761f}));
}

TEST(Gated, EveryKernelMatchesTheReference) {
  for (Activation activation : kActivations)
    for (int64_t n : {1, 15, 64, 1027})
      expect_kernels_match_reference("gated", Gated{activation}, {random_tensor({3, 2 * n}, DType::kF32, 1, 6)},
                                     {.relative = 4e-6, .absolute = 4e-6});
}

TEST(Gated, DecomposesIntoSlicesActivationAndProduct) {
  for (Activation activation : kActivations) expect_decomposition_matches("gated", Gated{activation}, {random_tensor({2, 3, 10})});
  Graph graph(builtin_ops());
  const Value x = graph.input("x", parse_type("bf16[2*n]"));
  const Node& node = *graph.emit("gated", {x}).producer();
  EXPECT_EQ(node.op().decompose(graph, node, node.inputs())[0].type().to_string(), "bf16[n]") << "also of a half whose size is a symbol";
}

}  // namespace
}  // namespace headrace
