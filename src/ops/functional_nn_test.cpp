#include "core/test_support.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

struct Sketch {
  Graph graph{builtin_ops()};
  std::unordered_map<std::string, HostTensor> leaves;
  Value operator()(const HostTensor& t) {
    const Value v = input(type_of(t));
    leaves[v.name()] = t;
    return v;
  }
  Value operator()(const char* type) { return input(parse_type(type)); }
  Value input(TensorType type) { return graph.input("x" + std::to_string(graph.leaves(Leaf::kInput).size()), std::move(type)); }
  std::vector<float> values(Value y) {
    graph.mark_output(cast(y, DType::kF32), "y" + std::to_string(graph.outputs().size()));
    Graph wanted = graph.clone();
    wanted.remove_dead();  // inputs that have a type alone
    wanted.verify();
    const HostTensor result = evaluate(wanted, leaves).back();
    return {result.as<float>(), result.as<float>() + result.view().numel()};
  }
};

std::string type_text(const Value& v) { return v.type().to_string(); }

TEST(FunctionalNn, ConvolutionsTakeABiasOrNone) {
  Sketch at;
  EXPECT_EQ(type_text(conv1d(at("f32[batch, 4, length]"), at("f32[6, 2, 3]"), Value(), {.padding = {1}, .groups = 2})),
            "f32[batch, 6, length]");
  EXPECT_EQ(type_text(conv2d(at("f32[1, 4, 8, 8]"), at("f32[6, 4, 3, 3]"), at("f32[6]"), {.stride = {2}, .dilation = {2, 1}})),
            "f32[1, 6, 2, 3]");
  EXPECT_THAT(at.values(conv1d(at(floats({1, 1, 3}, {1, 2, 3})), at(floats({1, 1, 2}, {1, -1})), at(floats({1}, {10})))),
              ElementsAre(9, 9));
  EXPECT_THAT(error_of([&] { conv1d(at("f32[1, 4, 8]"), at("f32[6, 3, 3]")); }), HasSubstr("functional_nn_test.cpp:"));
}

TEST(FunctionalNn, PoolingStridesByTheKernelUnlessToldOtherwise) {
  Sketch at;
  const Value x = at("f32[2, 8, 12, 12]"), row = at("f32[2, 8, 12]");
  EXPECT_EQ(type_text(max_pool2d(x, {3})), "f32[2, 8, 4, 4]");
  EXPECT_EQ(type_text(max_pool2d(x, {3, 2}, {.stride = {1}, .padding = {1, 0}, .dilation = {1, 3}})), "f32[2, 8, 12, 9]");
  EXPECT_EQ(type_text(avg_pool2d(x, {2, 3})), "f32[2, 8, 6, 4]");
  EXPECT_EQ(type_text(max_pool1d(row, {3})), "f32[2, 8, 4]");
  EXPECT_EQ(type_text(avg_pool1d(row, {3}, {.stride = {1}, .padding = {1}})), "f32[2, 8, 12]");
  EXPECT_THAT(error_of([&] { avg_pool1d(row, {3}, {.dilation = {2}}); }), HasSubstr("no dilation"));
  EXPECT_THAT(at.values(avg_pool1d(at(floats({1, 3}, {2, 4, 8})), {2}, {.stride = {2}, .padding = {1}, .count_include_pad = false})),
              ElementsAre(2, 6));
}

TEST(FunctionalNn, AdaptivePoolingMakesEqualParts) {
  Sketch at;
  EXPECT_EQ(type_text(adaptive_avg_pool2d(at("f32[batch, 8, height, width]"), {1})), "f32[batch, 8, 1, 1]");
  EXPECT_EQ(type_text(adaptive_avg_pool2d(at("f32[batch, 8, 6, 8]"), {1, 4})), "f32[batch, 8, 1, 4]");
  EXPECT_THAT(at.values(adaptive_avg_pool1d(at(floats({1, 4}, {1, 3, 5, 9})), 2)), ElementsAre(2, 7));
  EXPECT_THAT(at.values(adaptive_avg_pool1d(at(floats({1, 4}, {1, 3, 5, 9})), 1)), ElementsAre(4.5));
  EXPECT_THAT(error_of([&] { adaptive_avg_pool1d(at("f32[2, 8, 7]"), 2); }), HasSubstr("7 elements do not make 2"));
  EXPECT_THAT(error_of([&] { adaptive_avg_pool1d(at("f32[2, 8, length]"), 2); }), HasSubstr("wanted as numbers"));
  EXPECT_THAT(error_of([&] { adaptive_avg_pool1d(at("f32[2, 8, 7]"), 0); }), HasSubstr("0 equal parts"));
}

TEST(FunctionalNn, NormsAndScalesCanDoWithoutTheLastOperands) {
  Sketch at;
  const Value x = at("f32[batch, 8, length]"), vector = at("f32[8]");
  EXPECT_EQ(group_norm(x, 4).producer()->inputs().size(), 1u);
  EXPECT_EQ(group_norm(x, 4, vector).producer()->inputs().size(), 2u);
  EXPECT_EQ(group_norm(x, 4, vector, vector, 1e-3f).producer()->inputs().size(), 3u);
  EXPECT_EQ(type_text(quantize(x, 0.5)), "i8[batch, 8, length]");
  EXPECT_EQ(type_text(quantize(x, vector, at("u8[8]"), {.dtype = DType::kU8, .axis = 1})), "u8[batch, 8, length]");
  EXPECT_THAT(at.values(dequantize(quantize(at(floats({3}, {-1, 0.3f, 7})), 0.5, 1), 0.5, 1)), ElementsAre(-1, 0.5, 7));
  EXPECT_EQ(type_text(dequantize(at("i8[2, 8]"), at("f32[2, 1]"), Value(), {.dtype = DType::kBF16})), "bf16[2, 8]");
}

TEST(FunctionalNn, AttentionHasPyTorchsValues) {
  Sketch at;
  const Value q = at(floats({1, 3, 2}, {1, 0, 0, 1, 1, 1})), k = at(floats({1, 3, 2}, {1, 2, 0, -1, 3, 0})),
              v = at(floats({1, 3, 2}, {1, 0, 0, 1, 2, 2}));
  const auto expect = [&](const ScaledDotProductOptions& options, const std::vector<float>& expected) {
    EXPECT_THAT(at.values(scaled_dot_product_attention(q, k, v, options)), Pointwise(FloatNear(2e-6f), expected));
  };
  expect({}, {1.645732f, 1.555311f, 1.090421f, 0.444689f, 1.456943f, 1.0f});
  expect({.is_causal = true}, {1.0f, 0.0f, 0.892958f, 0.107042f, 1.456943f, 1.0f});
  expect({.mask = at(integers({3, 3}, {1, 0, 1, 1, 1, 0, 0, 1, 1}, DType::kBool))},
         {1.80443f, 1.608859f, 0.892958f, 0.107042f, 1.888386f, 1.944193f});
  expect({.mask = at(floats({3, 3}, {0, 1, 2, 0, 0, 0, 1, 0, -1})), .scale = 0.5},
         {1.810971f, 1.839505f, 1.090979f, 0.602692f, 1.072185f, 0.2704f});
}

TEST(FunctionalNn, AttentionSharesHeadsOfKeysAndTakesSymbols) {
  Sketch at;
  const Value q = at("f32[batch, 8, tokens, 64]"), kv = at("f32[batch, 2, memory, 64]");
  EXPECT_EQ(type_text(scaled_dot_product_attention(q, kv, kv, {.is_causal = true, .enable_gqa = true})), "f32[batch, 8, tokens, 64]");
  EXPECT_THAT(error_of([&] { scaled_dot_product_attention(q, kv, kv); }), HasSubstr("do not broadcast"));
  EXPECT_THAT(error_of([&] { scaled_dot_product_attention(q, kv, at("f32[batch, 3, memory, 64]"), {.enable_gqa = true}); }),
              HasSubstr("do not share 3 heads"));
  EXPECT_THAT(error_of([&] { scaled_dot_product_attention(q, kv, kv, {.mask = at("bool[tokens, memory]"), .is_causal = true}); }),
              HasSubstr("one at a time"));
  EXPECT_THAT(error_of([&] { scaled_dot_product_attention(at("f32[8]"), kv, kv); }), HasSubstr("(..., tokens, width)"));
  const HostTensor heads = random_tensor({1, 4, 3, 2}), keys = random_tensor({1, 2, 3, 2}, DType::kF32, 2);
  const Value k = at(keys);
  const Value shared = scaled_dot_product_attention(at(heads), k, k, {.enable_gqa = true}),
              second = scaled_dot_product_attention(select(at(heads), 1, 3), select(k, 1, 1), select(k, 1, 1));
  const std::vector<float> all = at.values(shared);
  EXPECT_THAT(at.values(second), Pointwise(FloatNear(1e-6f), std::vector<float>(all.end() - 6, all.end())));
}

}  // namespace
}  // namespace headrace
