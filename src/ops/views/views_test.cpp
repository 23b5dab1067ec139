#include "ops/views/views.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Dim kTokens = Dim::symbol("tokens");

TEST(View, ElementsMustBeEquallyMany) {
  EXPECT_EQ(inferred("view", View{{kTokens, 4, 16}}, {"f32[tokens, 64]"}), "f32[tokens, 4, 16]");
  EXPECT_EQ(inferred("view", View{{kTokens * 64}}, {"f32[tokens, 64]"}), "f32[64*tokens]");
  EXPECT_THAT(rejection("view", View{{kTokens, 63}}, {"f32[tokens, 64]"}),
              HasSubstr("has 64*tokens elements, the wanted shape [tokens, 63] has 63*tokens"));
  EXPECT_EQ(inferred("view", View{{4, 64}}, {"q8_0[2, 128]"}), "q8_0[4, 64]");
  EXPECT_THAT(rejection("view", View{{16, 16}}, {"q8_0[2, 128]"}), HasSubstr("whole blocks"));
}

TEST(Permute, AxesAreNamedOnceEach) {
  EXPECT_EQ(inferred("permute", Permute{{1, 0, -1}}, {"f32[tokens, 4, 16]"}), "f32[4, tokens, 16]");
  EXPECT_THAT(rejection("permute", Permute{{0, 0, 1}}, {"f32[tokens, 4, 16]"}), HasSubstr("each axis of x once"));
  EXPECT_THAT(rejection("permute", Permute{{0, 1}}, {"f32[tokens, 4, 16]"}), HasSubstr("each axis of x once"));
  EXPECT_THAT(rejection("permute", Permute{{1, 0}}, {"q8_0[4, 32]"}), HasSubstr("block type"));
  EXPECT_EQ(inferred("permute", Permute{{1, 0, 2}}, {"q8_0[3, 4, 32]"}), "q8_0[4, 3, 32]");
}

TEST(Slice, BoundsAreThoseOfPyTorch) {
  EXPECT_EQ(inferred("slice", Slice{.axis = 1, .begin = 2, .end = 7, .step = 2}, {"f32[tokens, 8]"}), "f32[tokens, 3]");
  EXPECT_EQ(inferred("slice", Slice{.axis = 1, .begin = -3}, {"f32[tokens, 8]"}), "f32[tokens, 3]");
  EXPECT_EQ(inferred("slice", Slice{.axis = 1, .begin = -100, .end = 100}, {"f32[tokens, 8]"}), "f32[tokens, 8]");
  EXPECT_EQ(inferred("slice", Slice{.axis = 1, .begin = 5, .end = 3}, {"f32[tokens, 8]"}), "f32[tokens, 0]");
  EXPECT_EQ(inferred("slice", Slice{.begin = 1}, {"f32[tokens, 8]"}), "f32[tokens-1, 8]");
  EXPECT_EQ(inferred("slice", Slice{.begin = -1}, {"f32[tokens, 8]"}), "f32[1, 8]");
  EXPECT_EQ(inferred("slice", Slice{.end = -2}, {"f32[tokens, 8]"}), "f32[tokens-2, 8]");
  EXPECT_EQ(inferred("slice", Slice{.begin = 1, .end = 4}, {"f32[tokens, 8]"}), "f32[3, 8]");
  EXPECT_EQ(inferred("slice", Slice{.step = 3}, {"f32[9223372036854775807]"}), "f32[3074457345618258603]");
  EXPECT_EQ(inferred("slice", Slice{.step = 2}, {"f32[4*tokens]"}), "f32[2*tokens]");
  EXPECT_THAT(rejection("slice", Slice{.step = 2}, {"f32[tokens]"}), HasSubstr("steps of 2"));
  EXPECT_THAT(rejection("slice", Slice{.step = 0}, {"f32[8]"}), HasSubstr("1 or more"));
  EXPECT_EQ(inferred("slice", Slice{.axis = 1, .begin = 32, .end = 96}, {"q8_0[4, 128]"}), "q8_0[4, 64]");
  EXPECT_THAT(rejection("slice", Slice{.axis = 1, .begin = 8, .end = 40}, {"q8_0[4, 128]"}), HasSubstr("between blocks"));
}

TEST(Expand, OnlyOnesRepeat) {
  EXPECT_EQ(inferred("expand", Expand{{3, kTokens, 8}}, {"f32[tokens, 1]"}), "f32[3, tokens, 8]");
  EXPECT_THAT(rejection("expand", Expand{{3, 8}}, {"f32[2, 8]"}), HasSubstr("only axes of size 1 repeat"));
  EXPECT_THAT(rejection("expand", Expand{{8}}, {"f32[2, 8]"}), HasSubstr("new ones come first"));
}

TEST(Views, References) {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(reference_floats("view", View{{3, 2}}, {x}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(reference_floats("permute", Permute{{1, 0}}, {x}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(reference_floats("slice", Slice{.axis = 1, .begin = -2}, {x}), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(reference_floats("slice", Slice{.axis = -1, .step = 2}, {x}), ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(reference_floats("expand", Expand{{2, 2, 3}}, {x}), ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(reference_floats("expand", Expand{{2, 2}}, {floats({2, 1}, {7, 8})}), ElementsAre(7, 7, 8, 8));
}

TEST(Views, EveryKernelMatchesTheReference) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI64, DType::kU8}) {
    const HostTensor x = random_tensor({3, 4, 10}, dtype);
    expect_kernels_match_reference("view", View{{6, 20}}, {x});
    expect_kernels_match_reference("view", View{{120}}, {x});
    expect_kernels_match_reference("permute", Permute{{2, 0, 1}}, {x});
    expect_kernels_match_reference("permute", Permute{{1, 0, 2}}, {x});
    expect_kernels_match_reference("slice", Slice{.axis = 2, .begin = 1, .end = 9, .step = 3}, {x});
    expect_kernels_match_reference("slice", Slice{.axis = 1, .begin = -2}, {x});
    expect_kernels_match_reference("slice", Slice{.axis = 1, .begin = 2, .end = 2}, {x});
    expect_kernels_match_reference("expand", Expand{{2, 3, 4, 10}}, {x});
    expect_kernels_match_reference("expand", Expand{{4, 5}}, {random_tensor({4, 1}, dtype)});
  }
  const HostTensor blocks = random_tensor({2, 3, 512}, DType::kQ5_K);
  expect_kernels_match_reference("view", View{{12, 256}}, {blocks});
  expect_kernels_match_reference("permute", Permute{{1, 0, 2}}, {blocks});
  expect_kernels_match_reference("slice", Slice{.axis = 2, .begin = 256}, {blocks});
  expect_kernels_match_reference("expand", Expand{{2, 2, 3, 512}}, {blocks});
}

std::optional<Tensor> view_of(const char* op, const Attributes& attributes, const Tensor& x, const Sizes& output) {
  const OpDef& def = *builtin_ops()->find(op);
  const std::vector<TensorType> types = {type_of(x)};
  return def.view({def, attributes, types}, x, output);
}

TEST(Views, ShareTheirOperandsMemoryWhereStridesPermit) {
  const HostTensor x = random_tensor({4, 10});
  const std::optional<Tensor> part = view_of("slice", Slice{.axis = 1, .begin = 2, .end = 8}, x, {4, 6});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->as<float>(), x.as<float>() + 2);
  EXPECT_EQ(part->strides.to_string(), "[10, 1]");
  const std::optional<Tensor> heads = view_of("view", View{{4, 2, 3}}, *part, {4, 2, 3});
  ASSERT_TRUE(heads);
  EXPECT_EQ(heads->strides.to_string(), "[10, 3, 1]");
  EXPECT_FALSE(view_of("view", View{{24}}, *part, {24}));
  EXPECT_EQ(view_of("permute", Permute{{1, 0}}, *part, {6, 4})->strides.to_string(), "[1, 10]");
  EXPECT_EQ(view_of("expand", Expand{{5, 4, 6}}, *part, {5, 4, 6})->strides.to_string(), "[0, 10, 1]");
}

TEST(Slice, NeverLeavesMemoryWhenASymbolWasTooSmall) {
  const HostTensor x = random_tensor({2, 3});
  const OpDef& def = *builtin_ops()->find("slice");
  const std::vector<TensorType> types = {{DType::kF32, {kTokens, 3}}};
  const Attributes attributes = Slice{.begin = 1, .end = 4};
  const OpCall call{def, attributes, types};
  EXPECT_FALSE(def.view(call, x, {3, 3}));
  HostTensor out = random_tensor({3, 3});
  const Tensor in = x, result = out;
  def.reference(call, std::span(&in, 1), std::span(&result, 1));
  EXPECT_THAT(std::vector<float>(out.as<float>(), out.as<float>() + 9), ::testing::Each(0.0f));
}

}  // namespace
}  // namespace headrace
