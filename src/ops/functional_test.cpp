#include "headrace/functional.h"

#include <cmath>

#include "core/test_support.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A graph whose inputs are named by their types: graph("f32[2, 3]").
struct Sketch {
  Graph graph{builtin_ops()};
  int inputs = 0;
  Value operator()(const char* type) { return graph.input("x" + std::to_string(inputs++), parse_type(type)); }
};

std::string type_text(const Value& v) { return v.type().to_string(); }

// What a function of one tensor computes.
template <typename Function>
HostTensor computed(const HostTensor& x, Function function) {
  Graph graph(builtin_ops());
  graph.mark_output(function(graph.input("x", type_of(x))), "y");
  graph.verify();
  return evaluate(graph, {{"x", x}})[0];
}
template <typename Function>
std::vector<float> floats_of(const HostTensor& x, Function function) {
  const HostTensor y = computed(x, function);
  EXPECT_EQ(y.view().dtype, DType::kF32);
  return {y.as<float>(), y.as<float>() + y.view().numel()};
}
HostTensor ramp(const Sizes& sizes) {
  std::vector<float> values(size_t(sizes.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  return floats(sizes, values);
}

// The message of the error that `body` throws, which must name line `where`: that of the call.
template <typename Body>
std::string error_at(const std::source_location& where, Body body) {
  const std::string message = test::error_of(body), place = " (at functional_test.cpp:" + std::to_string(where.line()) + ")";
  EXPECT_TRUE(message.ends_with(place)) << message << " should end with" << place;
  return message;
}
std::source_location here(std::source_location where = std::source_location::current()) { return where; }

TEST(Functional, ErrorsNameTheFunctionBothTypesAndTheLineOfTheCall) {
  Sketch g;
  const Value x = g("f32[tokens, 64]"), y = g("f32[32]"), rank0 = g("f32[]");
  EXPECT_THAT(error_at(here(), [&] { add(x, y); }), HasSubstr("add(f32[tokens, 64], f32[32]): sizes 64 and 32 do not broadcast"));
  EXPECT_THAT(error_at(here(), [&] { (void)(x * y); }), HasSubstr("mul(f32[tokens, 64], f32[32])"));
  EXPECT_THAT(error_at(here(), [&] { (void)(2 - x / y); }), HasSubstr("div("));
  EXPECT_THAT(error_at(here(), [&] { matmul(x, y); }), HasSubstr("matmul(f32[tokens, 64], f32[32])"));
  EXPECT_THAT(error_at(here(), [&] { linear(x, g("f32[8, 65]")); }), HasSubstr("linear(f32[tokens, 64], f32[8, 65])"));
  EXPECT_THAT(error_at(here(), [&] { softmax(x, 2); }), HasSubstr("axis 2 of a tensor with 2 axes"));
  EXPECT_THAT(error_at(here(), [&] { reshape(x, {-1, -1}); }), HasSubstr("more than one -1"));
  EXPECT_THAT(error_at(here(), [&] { reshape(x, {7, -1}); }), HasSubstr("reshape(f32[tokens, 64]): 64*tokens elements cannot be seen as"));
  EXPECT_THAT(error_at(here(), [&] { reshape(x, {0, -1}); }), HasSubstr("cannot be seen as"));
  EXPECT_THAT(error_at(here(), [&] { split(x, {1, 2}, 1); }), HasSubstr("add up to 3, axis 1 has 64"));
  EXPECT_THAT(error_at(here(), [&] { split(x, {65, -1}, 1); }), HasSubstr("add up to 64"));
  EXPECT_THAT(error_at(here(), [&] { transpose(x, 0, 2); }), HasSubstr("transpose(f32[tokens, 64]): axis 2"));
  EXPECT_THAT(error_at(here(), [&] { unsqueeze(x, 4); }), HasSubstr("unsqueeze(f32[tokens, 64]): axis 4 of a tensor with 3 axes"));
  EXPECT_THAT(error_at(here(), [&] { narrow(x, 1, 60, 5); }), HasSubstr("5 elements from 60 on, axis 1 has 64"));
  EXPECT_THAT(error_at(here(), [&] { select(x, 1, 64); }), HasSubstr("element 64, axis 1 has 64"));
  EXPECT_THAT(error_at(here(), [&] { chunk(x, 2, 0); }), HasSubstr("the axis' size is wanted as a number, not as 'tokens'"));
  EXPECT_THAT(error_at(here(), [&] { chunk(x, 0, 1); }), HasSubstr("0 chunks"));
  EXPECT_THAT(error_at(here(), [&] { flatten(x, 1, 0); }), HasSubstr("axis 1 comes after axis 0"));
  EXPECT_THAT(error_at(here(), [&] { unflatten(x, 1, {3, 5}); }), HasSubstr("axis 1 has 64 elements, the sizes [3, 5] have 15"));
  EXPECT_THAT(error_at(here(), [&] { expand(x, {-1, 3, 64}); }), HasSubstr("a new axis of [-1, 3, 64] is -1"));
  EXPECT_THAT(error_at(here(), [&] { expand(y, {3, 33}); }), HasSubstr("expand(f32[32])"));
  EXPECT_THAT(error_at(here(), [&] { repeat_interleave(x, -1, 0); }), HasSubstr("-1 repeats"));
  EXPECT_THAT(error_at(here(), [&] { concat({x, y}, 0); }), HasSubstr("concat(f32[tokens, 64], f32[32])"));
  EXPECT_THAT(error_at(here(), [&] { concat({}, 0); }), HasSubstr("nothing to put together"));
  EXPECT_THAT(error_at(here(), [&] { stack({x, y}, 0); }), HasSubstr("concat("));
  EXPECT_THAT(error_at(here(), [&] { full(g.graph, {2}, 300, DType::kU8); }), HasSubstr("the number 300 does not fit u8"));
  EXPECT_THAT(error_at(here(), [&] { full(g.graph, {2}, 0, DType::kQ4_0); }), HasSubstr("q4_0"));
  EXPECT_THAT(error_at(here(), [&] { causal_attention(x, x, x, y, {.heads = 3, .kv_heads = 2, .head_dim = 8}); }), HasSubstr("multiple"));
  EXPECT_THAT(error_at(here(), [&] { sum(rank0, 0); }), HasSubstr("axis 0 of a tensor with 0 axes"));
  const int before = g.graph.num_nodes();
  EXPECT_THAT(error_at(here(), [&] { cast(x, DType::kQ8_0); }), HasSubstr("cast("));
  EXPECT_EQ(g.graph.num_nodes(), before) << "a failed call leaves no node behind";
  g.graph.verify();
}

TEST(Functional, EmptyAndForeignValuesAndLoneNumbersAreErrors) {
  Sketch g, other;
  const Value x = g("f32[2]"), foreign = other("f32[2]"), empty;
  EXPECT_THAT(error_at(here(), [&] { (void)(x + foreign); }), HasSubstr("add: operand 'x0' belongs to another graph"));
  EXPECT_THAT(error_at(here(), [&] { concat({x, foreign}); }), HasSubstr("concat: operand 'x0' belongs to another graph"));
  EXPECT_THAT(error_at(here(), [&] { (void)(x + empty); }), HasSubstr("add: operand 1 is an empty Value"));
  EXPECT_THAT(error_at(here(), [&] { (void)(empty + x); }), HasSubstr("add: operand 0 is an empty Value"));
  EXPECT_THAT(error_at(here(), [&] { relu(empty); }), HasSubstr("relu: no operand is a Value"));
  EXPECT_THAT(error_at(here(), [&] { exp(2.0f); }), HasSubstr("exp: no operand is a Value"));
  EXPECT_THAT(error_at(here(), [&] { reshape(empty, {2}); }), HasSubstr("x is an empty Value"));
  EXPECT_THAT(error_at(here(), [&] { transpose(1, 0, 1); }), HasSubstr("x is a number"));
  EXPECT_THAT(error_at(here(), [&] { matmul(x, 3); }), HasSubstr("matmul(f32[2], f32[])"));
  EXPECT_THAT(error_at(here(), [&] { concat({empty}); }), HasSubstr("concat: no operand is a Value"));
  EXPECT_THAT(error_at(here(), [&] { stack({empty}); }), HasSubstr("an empty Value"));
}

TEST(Functional, NodesKnowTheLineOfTheCall) {
  Sketch g;
  const Value x = g("f32[2, 3]");
  const auto before = here();
  const Value y = 2.0 * transpose(x, 0, 1);
  EXPECT_EQ(y.producer()->where().line(), before.line() + 1);
  EXPECT_EQ(y.producer()->input(1).producer()->where().line(), before.line() + 1);
}

TEST(Functional, NumbersTakeTheTypeThatPyTorchGivesThem) {
  Sketch g;
  EXPECT_EQ(type_text(g("f16[2]") + 1), "f16[2]");
  EXPECT_EQ(type_text(1.5 - g("bf16[2]")), "bf16[2]");
  EXPECT_EQ(type_text(g("i32[2]") * 3), "i32[2]");
  EXPECT_EQ(type_text(g("u8[2]") * 1.5), "f32[2]") << "a float is of a higher kind than integers";
  EXPECT_EQ(type_text(g("bool[2]") + 2), "i64[2]");
  EXPECT_EQ(type_text(g("i32[2]") + true), "i32[2]");
  EXPECT_EQ(type_text(pow(g("i32[2]"), 2)), "i32[2]");
  EXPECT_EQ(type_text(pow(2, g("f32[2]"))), "f32[2]");
  EXPECT_EQ(type_text(g("i32[2]") / 2), "f32[2]");
  EXPECT_EQ(type_text(maximum(0, g("f32[2]"))), "f32[2]");
  EXPECT_EQ(type_text(where(g("bool[2]"), g("f16[2]"), -INFINITY)), "f16[2]");
  EXPECT_EQ(type_text(where(g("bool[2]"), 1, 0)), "i64[2]");
  EXPECT_EQ(type_text(where(g("bool[2]"), 1.0, 0.0)), "f32[2]");
  EXPECT_THAT(error_at(here(), [&] { (void)(g("u8[2]") + 256); }), HasSubstr("add: the number 256 does not fit u8"));
  EXPECT_THAT(error_at(here(), [&] { (void)(g("q8_0[32]") + 1); }), HasSubstr("add(q8_0[32], f32[])"));
}

TEST(Functional, OperatorsTakeNumbersOnEitherSide) {
  const HostTensor x = floats({3}, {1, 2, 4});
  EXPECT_THAT(floats_of(x, [](Value v) { return 8 / v; }), ElementsAre(8, 4, 2));
  EXPECT_THAT(floats_of(x, [](Value v) { return v / 2; }), ElementsAre(0.5, 1, 2));
  EXPECT_THAT(floats_of(x, [](Value v) { return 1.5f - v; }), ElementsAre(0.5, -0.5, -2.5));
  EXPECT_THAT(floats_of(x, [](Value v) { return v - 1; }), ElementsAre(0, 1, 3));
  EXPECT_THAT(floats_of(x, [](Value v) { return -(3 * v + v * 2 + 1 + (2 + v)); }), ElementsAre(-9, -15, -27));
  EXPECT_THAT(floats_of(x, [](Value v) { return pow(v, 0.5); }), ElementsAre(1, std::sqrt(2.0f), 2));
  EXPECT_THAT(floats_of(x, [](Value v) { return pow(2, v); }), ElementsAre(2, 4, 16));
  EXPECT_THAT(floats_of(x, [](Value v) { return minimum(maximum(v, 1.5), 3); }), ElementsAre(1.5, 2, 3));
}

TEST(Functional, EveryFunctionOfOneTensorIsThatFunction) {
  const float v = 0.7f;
  const auto of = [&](auto function) { return floats_of(floats({1}, {v}), function)[0]; };
  EXPECT_FLOAT_EQ(of([](Value x) { return exp(x); }), std::exp(v));
  EXPECT_FLOAT_EQ(of([](Value x) { return log(x); }), std::log(v));
  EXPECT_FLOAT_EQ(of([](Value x) { return sqrt(x); }), std::sqrt(v));
  EXPECT_FLOAT_EQ(of([](Value x) { return rsqrt(x); }), 1 / std::sqrt(v));
  EXPECT_FLOAT_EQ(of([](Value x) { return erf(x); }), std::erf(v));
  EXPECT_FLOAT_EQ(of([](Value x) { return sin(x); }), std::sin(v));
  EXPECT_FLOAT_EQ(of([](Value x) { return cos(x); }), std::cos(v));
  EXPECT_FLOAT_EQ(of([](Value x) { return tanh(x); }), std::tanh(v));
  EXPECT_FLOAT_EQ(of([](Value x) { return sigmoid(x); }), 1 / (1 + std::exp(-v)));
  EXPECT_FLOAT_EQ(of([](Value x) { return silu(x); }), v / (1 + std::exp(-v)));
  EXPECT_FLOAT_EQ(of([](Value x) { return square(x); }), v * v);
  EXPECT_FLOAT_EQ(of([](Value x) { return neg(x); }), -v);
  EXPECT_FLOAT_EQ(of([](Value x) { return abs(neg(x)); }), v);
  EXPECT_FLOAT_EQ(of([](Value x) { return relu(neg(x)); }), 0);
  EXPECT_FLOAT_EQ(of([](Value x) { return gelu(x); }), v / 2 * (1 + std::erf(v / std::sqrt(2.0f))));
  EXPECT_NEAR(of([](Value x) { return gelu(x, GeluApproximation::kTanh); }), 0.5305, 1e-4);
  EXPECT_EQ(computed(floats({1}, {2.9f}), [](Value x) { return to(x, DType::kI32); }).as<int32_t>()[0], 2);
}

TEST(Functional, AxesCountFromTheBackToo) {
  Sketch g;
  const Value x = g("f32[batch, 3, 4, 1]");
  EXPECT_EQ(type_text(transpose(x, -2, -3)), "f32[batch, 4, 3, 1]");
  EXPECT_EQ(type_text(permute(x, {-1, 0, 1, 2})), "f32[1, batch, 3, 4]");
  EXPECT_EQ(type_text(squeeze(x)), "f32[batch, 3, 4]");
  EXPECT_EQ(type_text(squeeze(x, -1)), "f32[batch, 3, 4]");
  EXPECT_EQ(type_text(squeeze(x, {0, 1, -1})), "f32[batch, 3, 4]") << "only an axis of size 1 goes";
  EXPECT_EQ(type_text(unsqueeze(x, -1)), "f32[batch, 3, 4, 1, 1]");
  EXPECT_EQ(type_text(unsqueeze(x, 0)), "f32[1, batch, 3, 4, 1]");
  EXPECT_EQ(type_text(flatten(x)), "f32[12*batch]");
  EXPECT_EQ(type_text(flatten(x, 1, -2)), "f32[batch, 12, 1]");
  EXPECT_EQ(type_text(flatten(g("f32[]"))), "f32[1]");
  EXPECT_EQ(type_text(unflatten(x, -2, {-1, 2})), "f32[batch, 3, 2, 2, 1]");
  EXPECT_EQ(type_text(reshape(x, {Dim::symbol("batch"), -1})), "f32[batch, 12]");
  EXPECT_EQ(type_text(view(x, {-1, 6})), "f32[2*batch, 6]");
  EXPECT_EQ(type_text(expand(x, {2, -1, -1, -1, 5})), "f32[2, batch, 3, 4, 5]");
  EXPECT_EQ(type_text(repeat_interleave(x, 3, -3)), "f32[batch, 9, 4, 1]");
  EXPECT_EQ(type_text(narrow(x, -2, 1, 2)), "f32[batch, 3, 2, 1]");
  EXPECT_EQ(type_text(narrow(x, -2, -3, 2)), "f32[batch, 3, 2, 1]");
  EXPECT_EQ(type_text(select(x, -2, -1)), "f32[batch, 3, 1]");
  EXPECT_EQ(type_text(select(x, 0, 0)), "f32[3, 4, 1]");
  EXPECT_EQ(type_text(concat({x, x}, -2)), "f32[batch, 3, 8, 1]");
  EXPECT_EQ(type_text(stack({x, x}, -1)), "f32[batch, 3, 4, 1, 2]");
  EXPECT_EQ(type_text(sum(x, {1, -1})), "f32[batch, 4]");
  EXPECT_EQ(type_text(mean(x, -2, true)), "f32[batch, 3, 1, 1]");
  EXPECT_EQ(type_text(max(x)), "f32[]");
  EXPECT_EQ(type_text(argmax(x, -2)), "i64[batch, 3, 1]");
  EXPECT_EQ(type_text(cumsum(x, -2)), "f32[batch, 3, 4, 1]");
  EXPECT_EQ(type_text(index_select(x, -2, g("i32[7]"))), "f32[batch, 3, 7, 1]");
  const std::vector<Value> parts = split(x, {1, 3}, -2);
  EXPECT_EQ(type_text(parts[1]), "f32[batch, 3, 3, 1]");
  const std::vector<Value> chunks = chunk(x, 3, -2);
  ASSERT_EQ(chunks.size(), 2u) << "as PyTorch: of four elements, two chunks of two";
  EXPECT_EQ(type_text(chunks[1]), "f32[batch, 3, 2, 1]");
  g.graph.verify();
}

TEST(Functional, ArrangementsMoveElementsAsPyTorchDoes) {
  const HostTensor x = ramp({2, 3});
  EXPECT_THAT(floats_of(x, [](Value v) { return transpose(v, 0, 1); }), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(floats_of(x, [](Value v) { return repeat_interleave(v, 2, 1); }), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5));
  EXPECT_THAT(floats_of(x, [](Value v) { return repeat_interleave(v, 2, 0); }), ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
  EXPECT_THAT(floats_of(x, [](Value v) { return select(v, 1, -1); }), ElementsAre(2, 5));
  EXPECT_THAT(floats_of(x, [](Value v) { return select(v, 1, -2); }), ElementsAre(1, 4));
  EXPECT_THAT(floats_of(x, [](Value v) { return narrow(v, 1, 1, 2); }), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(floats_of(x, [](Value v) { return slice(v, 1, 0, 3, 2); }), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(floats_of(x, [](Value v) { return stack({v, -v}, 1); }), ElementsAre(0, 1, 2, 0, -1, -2, 3, 4, 5, -3, -4, -5));
  EXPECT_THAT(floats_of(x, [](Value v) { return concat(chunk(v, 3, 1), 0); }), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Functional, ReductionsGoOverTheAxesThatAreNamed) {
  const HostTensor x = floats({2, 3}, {1, 5, 3, 4, 2, 6});
  EXPECT_THAT(floats_of(x, [](Value v) { return sum(v); }), ElementsAre(21));
  EXPECT_THAT(floats_of(x, [](Value v) { return sum(v, 0); }), ElementsAre(5, 7, 9));
  EXPECT_THAT(floats_of(x, [](Value v) { return mean(v, -1); }), ElementsAre(3, 4));
  EXPECT_THAT(floats_of(x, [](Value v) { return max(v, {0, 1}); }), ElementsAre(6));
  EXPECT_THAT(floats_of(x, [](Value v) { return min(v, 0); }), ElementsAre(1, 2, 3));
  EXPECT_THAT(floats_of(x, [](Value v) { return cumsum(v, -1); }), ElementsAre(1, 6, 9, 4, 6, 12));
  EXPECT_THAT(floats_of(x, [](Value v) { return cast(argmax(v, 1), DType::kF32); }), ElementsAre(1, 2));
  EXPECT_THAT(floats_of(x, [](Value v) { return cast(argmax(v), DType::kF32); }), ElementsAre(5));
}

TEST(Functional, NormsDoWithoutWhatIsLeftOut) {
  const HostTensor x = floats({1, 2}, {1, 3});
  EXPECT_THAT(floats_of(x, [](Value v) { return layer_norm(v, Value(), Value(), 0); }), ElementsAre(-1, 1));
  EXPECT_THAT(floats_of(x, [](Value v) { return layer_norm(v, ones(v.graph(), {2}) * 2, Value(), 0); }), ElementsAre(-2, 2));
  Sketch g;
  EXPECT_THAT(error_at(here(), [&] { layer_norm(g("f32[2]"), Value(), g("f32[2]")); }), HasSubstr("operand 1 is an empty Value"));
}

TEST(Functional, TensorsOfOneNumberAndCountsHaveAnyShape) {
  const HostTensor x = ramp({3});
  EXPECT_THAT(floats_of(x, [](Value v) { return v * full(v.graph(), {2, 1}, 2); }), ElementsAre(0, 2, 4, 0, 2, 4));
  EXPECT_THAT(floats_of(x, [](Value v) { return ones(v.graph(), {}) + zeros(v.graph(), {}); }), ElementsAre(1));
  Sketch g;
  EXPECT_EQ(type_text(zeros(g.graph, {Dim::symbol("batch"), 3}, DType::kI32)), "i32[batch, 3]");
  const Value numbers = arange(g.graph, Dim::symbol("batch"));
  EXPECT_EQ(type_text(numbers), "i64[batch]");
  EXPECT_THAT(floats_of(x, [](Value v) { return cast(arange(v.graph(), 4), DType::kF32); }), ElementsAre(0, 1, 2, 3));
}

TEST(Functional, ALinearKeepsHowItIsMeantToBeCut) {
  Sketch g;
  const Value x = g("f32[tokens, 4]"), w = g.graph.parameter("w", parse_type("f32[8, 4]"));
  g.graph.mark_output(linear(x, w, Value(), Parallel::kColumn), "y");
  EXPECT_THAT(g.graph.to_text(), HasSubstr("linear(%x0, %w) {parallel=column}"));
  EXPECT_EQ(Graph::parse(g.graph.to_text(), builtin_ops()).to_text(), g.graph.to_text());
}

TEST(Functional, RopeAndAttentionTakeTheirOperandsAsValues) {
  Sketch g;
  const Value x = g("f32[tokens, 8]"), offsets = g("i32[boundaries]");
  const Value table = rope_table(g("i32[tokens]"), g("f32[2]"));
  EXPECT_EQ(type_text(rope(x, table, 4)), "f32[tokens, 8]");
  const AttentionOptions options{.heads = 2, .kv_heads = 2, .head_dim = 4};
  EXPECT_EQ(type_text(causal_attention(x, x, x, offsets, options)), "f32[tokens, 8]");
  const Value y = bidirectional_attention(x, x, x, offsets, options);
  g.graph.mark_output(y, "y");
  EXPECT_THAT(g.graph.to_text(), HasSubstr("causal=false"));
}

}  // namespace
}  // namespace headrace
