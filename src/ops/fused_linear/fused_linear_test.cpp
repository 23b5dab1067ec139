#include "ops/fused_linear/fused_linear.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using Norm = FusedLinear::Norm;
using Activation = FusedLinear::Activation;

constexpr int64_t kIn = 64;

// As the compiler leaves them: known before the program runs, and contiguous.
TestOperand weight(const Sizes& sizes, DType dtype, uint32_t seed) {
  TestOperand operand = constant(random_tensor(sizes, dtype, seed, 1));
  operand.as_is = true;
  return operand;
}

// Operands in the order that the attributes ask for, the i-th weight with 16 * i + 5 rows (gated: all with 21).
std::vector<TestOperand> operands(const FusedLinear& a, DType dtype) {
  std::vector<TestOperand> list{random_tensor({2, 3, kIn})};
  if (a.norm != Norm::kNone) list.push_back(weight({kIn}, DType::kF32, 2));
  if (a.norm_bias) list.push_back(weight({kIn}, DType::kF32, 3));
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < a.num_weights; ++i) rows.push_back(a.gated ? 21 : 16 * i + 5);
  for (size_t i = 0; i < rows.size(); ++i) list.push_back(weight({rows[i], kIn}, dtype, uint32_t(10 + i)));
  for (size_t i = 0; a.bias && i < rows.size(); ++i) list.push_back(weight({rows[i]}, DType::kF32, uint32_t(30 + i)));
  int64_t width = 0;
  for (int64_t n : rows) width = a.gated ? n : width + n;
  if (a.residual) list.push_back(random_tensor({2, 3, width}, DType::kF32, 50));
  return list;
}

const FusedLinear kForms[] = {
    {},
    {.num_weights = 3},
    {.bias = true},
    {.num_weights = 2, .bias = true, .residual = true},
    {.norm = Norm::kRms, .eps = 1e-5f, .activation = Activation::kRelu},
    {.norm = Norm::kLayer, .eps = 1e-5f, .bias = true, .activation = Activation::kGelu},
    {.num_weights = 2, .norm = Norm::kLayer, .norm_bias = true, .bias = true, .activation = Activation::kGeluTanh, .residual = true},
    {.num_weights = 2, .norm = Norm::kRms, .activation = Activation::kSilu, .gated = true},
    {.num_weights = 2, .norm = Norm::kRms, .bias = true, .activation = Activation::kGeluTanh, .gated = true, .residual = true},
};

TEST(FusedLinear, TheTypeOfTheResultFollowsFromTheWeights) {
  EXPECT_EQ(inferred("fused_linear", FusedLinear{.num_weights = 2}, {"f32[tokens, 64]", "q8_0[8, 64]", "bf16[5, 64]"}), "f32[tokens, 13]");
  EXPECT_EQ(inferred("fused_linear", FusedLinear{.num_weights = 2, .activation = Activation::kSilu, .gated = true},
                     {"f32[tokens, 64]", "q8_0[8, 64]", "q8_0[8, 64]"}),
            "f32[tokens, 8]");
  EXPECT_THAT(rejection("fused_linear", FusedLinear{.bias = true}, {"f32[tokens, 64]", "f32[8, 64]"}), HasSubstr("3 operands"));
  EXPECT_THAT(rejection("fused_linear", FusedLinear(), {"f32[tokens, 64]", "f32[8, 32]"}), HasSubstr("(out, in)"));
  EXPECT_THAT(rejection("fused_linear", FusedLinear{.residual = true}, {"f32[tokens, 64]", "f32[8, 64]", "f32[tokens, 9]"}),
              HasSubstr("residual"));
}

TEST(FusedLinear, TheReferenceHasTheValuesOfTheFormula) {
  const HostTensor x = floats({1, 2}, {3, 4}), gate = floats({2, 2}, {1, 0, 0, -1}), up = floats({2, 2}, {1, 1, 2, 0});
  const FusedLinear form{.num_weights = 2, .activation = Activation::kRelu, .gated = true, .residual = true};
  EXPECT_THAT(reference_floats("fused_linear", form, {x, gate, up, floats({1, 2}, {0.5, 0.25})}),
              Pointwise(FloatNear(1e-6f), {21.5f, 0.25f}));
}

TEST(FusedLinear, EveryKernelMatchesTheReferenceWhateverTheRowsStrides) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kQ8_0})
    for (const FusedLinear& form : kForms)
      expect_kernels_match_reference("fused_linear", form, operands(form, dtype), {.relative = 1e-4, .absolute = 1e-4});
}

TEST(FusedLinear, DecomposesIntoTheOpsThatItIsMadeOf) {
  for (const FusedLinear& form : kForms)
    expect_decomposition_matches("fused_linear", form, operands(form, DType::kF32), {.relative = 1e-4, .absolute = 1e-4});
}

TEST(Linear, EveryKernelMatchesTheReferenceWhateverTheRowsStrides) {
  const HostTensor x = random_tensor({2, 3, kIn});
  for (DType dtype : {DType::kF32, DType::kF16, DType::kQ4_0, DType::kQ4_K}) {
    const TestOperand w = weight({37, dtype == DType::kQ4_K ? 256 : kIn}, dtype, 2), bias = weight({37}, DType::kF32, 3);
    const HostTensor input = dtype == DType::kQ4_K ? random_tensor({2, 3, 256}) : x;
    expect_kernels_match_reference("linear", {}, {input, w}, {.relative = 1e-4, .absolute = 1e-4});
    expect_kernels_match_reference("linear", {}, {input, w, bias}, {.relative = 1e-4, .absolute = 1e-4});
  }
}

}  // namespace
}  // namespace headrace
