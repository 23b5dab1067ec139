#include "core/test_support.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Function>
std::vector<float> floats_of(const HostTensor& x, Function function) {
  Graph graph(builtin_ops());
  graph.mark_output(cast(function(graph.input("x", type_of(x))), DType::kF32), "y");
  graph.verify();
  const HostTensor y = evaluate(graph, {{"x", x}})[0];
  return {y.as<float>(), y.as<float>() + y.view().numel()};
}

TEST(FunctionalChoice, ComparesWithNumbersOfTheTypeThatPyTorchGivesThem) {
  const HostTensor x = floats({3}, {1, 2, 3}), i = integers({3}, {1, 2, 3});
  EXPECT_THAT(floats_of(x, [](Value x) { return eq(x, 2); }), ElementsAre(0, 1, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return ne(x, 2); }), ElementsAre(1, 0, 1));
  EXPECT_THAT(floats_of(i, [](Value x) { return lt(x, 2.5); }), ElementsAre(1, 1, 0));  // 2.5 stays a float
  EXPECT_THAT(floats_of(x, [](Value x) { return le(2, x); }), ElementsAre(0, 1, 1));
  EXPECT_THAT(floats_of(x, [](Value x) { return gt(x, x); }), ElementsAre(0, 0, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return ge(x, x); }), ElementsAre(1, 1, 1));
  EXPECT_THAT(floats_of(x, [](Value x) { return logical_and(gt(x, 1), lt(x, 3)); }), ElementsAre(0, 1, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return logical_or(lt(x, 2), gt(x, 2)); }), ElementsAre(1, 0, 1));
  EXPECT_THAT(floats_of(x, [](Value x) { return logical_xor(gt(x, 1), lt(x, 3)); }), ElementsAre(1, 0, 1));
}

TEST(FunctionalChoice, TruthIsNotZero) {
  const HostTensor x = floats({2, 2}, {0, 0.5, NAN, 0}), i = integers({2}, {0, -7});
  EXPECT_THAT(floats_of(x, [](Value x) { return logical_not(x); }), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(floats_of(i, [](Value x) { return logical_not(x); }), ElementsAre(1, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return any(x, 1); }), ElementsAre(1, 1));
  EXPECT_THAT(floats_of(x, [](Value x) { return all(x, 0, true); }), ElementsAre(0, 0));
  EXPECT_THAT(floats_of(i, [](Value x) { return any(x); }), ElementsAre(1));
  EXPECT_THAT(floats_of(i, [](Value x) { return all(eq(x, x)); }), ElementsAre(1));
}

TEST(FunctionalChoice, ClampTakesEitherBoundOrBoth) {
  const HostTensor x = floats({3}, {-2, 0.5, 3}), i = integers({3}, {-2, 0, 3});
  EXPECT_THAT(floats_of(x, [](Value x) { return clamp(x, -1, 1); }), ElementsAre(-1, 0.5, 1));
  EXPECT_THAT(floats_of(x, [](Value x) { return clamp(x, 0); }), ElementsAre(0, 0.5, 3));
  EXPECT_THAT(floats_of(x, [](Value x) { return clamp(x, Value(), 0); }), ElementsAre(-2, 0, 0));
  EXPECT_THAT(floats_of(i, [](Value x) { return clamp(x, 0.5); }), ElementsAre(0.5, 0.5, 3));
  Graph graph(builtin_ops());
  const Value v = graph.input("x", parse_type("f32[2]"));
  EXPECT_THAT(error_of([&] { clamp(v, Value()); }), HasSubstr("neither min nor max"));
  EXPECT_THAT(error_of([&] { clamp(v, Value()); }), HasSubstr("functional_choice_test.cpp:"));
}

TEST(FunctionalChoice, EveryOtherFunctionMakesItsOp) {
  const HostTensor x = floats({2, 3}, {1.5, -2.5, 3, 4, 5, 0});
  EXPECT_THAT(floats_of(x, [](Value x) { return sign(x); }), ElementsAre(1, -1, 1, 1, 1, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return floor(x); }), ElementsAre(1, -3, 3, 4, 5, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return ceil(x); }), ElementsAre(2, -2, 3, 4, 5, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return round(x); }), ElementsAre(2, -2, 3, 4, 5, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return remainder(x, -2); }), ElementsAre(-0.5, -0.5, -1, 0, -1, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return prod(x, 0); }), ElementsAre(6, -12.5, 0));
  EXPECT_THAT(floats_of(x, [](Value x) { return pad(x, {1, 0, 0, 1}, 7); }), ElementsAre(7, 1.5, -2.5, 3, 7, 4, 5, 0, 7, 7, 7, 7));
  EXPECT_THAT(floats_of(x, [](Value x) { return topk(x, 2).values; }), ElementsAre(3, 1.5, 5, 4));
  EXPECT_THAT(floats_of(x, [](Value x) { return topk(x, 1, 0, false).indices; }), ElementsAre(0, 0, 1));
  EXPECT_THAT(floats_of(x, [](Value x) { return gather(x, 1, topk(x, 1).indices); }), ElementsAre(3, 5));
  EXPECT_THAT(floats_of(x, [](Value x) { return exp(log_softmax(x - x, 0)); }), ::testing::Each(::testing::FloatNear(0.5f, 1e-6f)));
}

TEST(FunctionalChoice, OneHotHasANewLastAxis) {
  EXPECT_THAT(floats_of(integers({2}, {2, 0}), [](Value x) { return one_hot(x, 3); }), ElementsAre(0, 0, 1, 1, 0, 0));
  Graph graph(builtin_ops());
  EXPECT_EQ(one_hot(graph.input("ids", parse_type("i32[tokens, 2]")), 5).type().to_string(), "i64[tokens, 2, 5]");
  EXPECT_THAT(error_of([&] { one_hot(graph.input("x", parse_type("f32[2]")), 5); }), HasSubstr("integers"));
}

}  // namespace
}  // namespace headrace
