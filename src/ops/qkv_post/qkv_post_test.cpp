#include "ops/qkv_post/qkv_post.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const QkvPost kPlain{.heads = 4, .kv_heads = 2, .head_dim = 16};
const std::vector<std::string> kTypes = {
    "f16[num_blocks, 2, 2, block_tokens, 16]", "f32[tokens, 64]", "f32[tokens, 32]", "f32[tokens, 32]", "f32[tokens, 8]", "i32[tokens]"};

TEST(QkvPost, ReturnsTheCacheAndQ) {
  EXPECT_EQ(inferred("qkv_post", kPlain, kTypes), kTypes[0] + ", " + kTypes[1]);
  EXPECT_EQ(builtin_ops()->find("qkv_post")->in_place_operand, 0);
}

TEST(QkvPost, RefusesWhatCannotBe) {
  const auto with = [](size_t operand, const std::string& type) {
    std::vector<std::string> types = kTypes;
    types[operand] = type;
    return rejection("qkv_post", kPlain, types);
  };
  EXPECT_THAT(with(0, "f32[num_blocks, 2, 1, block_tokens, 16]"), HasSubstr("kv is wanted"));
  EXPECT_THAT(with(1, "f32[tokens, 32]"), HasSubstr("q is wanted"));
  EXPECT_THAT(with(2, "f16[tokens, 32]"), HasSubstr("k is wanted"));
  EXPECT_THAT(with(3, "f32[tokens, 64]"), HasSubstr("v is wanted"));
  EXPECT_THAT(with(4, "f32[tokens, 7]"), HasSubstr("rotary_dim"));
  EXPECT_THAT(with(4, "f32[tokens, 18]"), HasSubstr("rotary_dim"));
  EXPECT_THAT(with(5, "i32[others]"), HasSubstr("slots"));
  QkvPost normed = kPlain;
  normed.qk_norm = true;
  EXPECT_THAT(rejection("qkv_post", normed, kTypes), HasSubstr("q_norm and k_norm"));
}

std::vector<TestOperand> operands(const QkvPost& a, int64_t rotary_dim, DType kv) {
  const int64_t d = a.head_dim;
  std::vector<TestOperand> operands = {
      random_tensor({4, 2, a.kv_heads, 3, d}, kv),        random_tensor({7, a.heads * d}, DType::kF32, 2),
      random_tensor({7, a.kv_heads * d}, DType::kF32, 3), random_tensor({7, a.kv_heads * d}, DType::kF32, 4),
      random_tensor({7, rotary_dim}, DType::kF32, 5, 1),  integers({7}, {7, 2, -1, 11, 0, 3, 5})};
  if (a.qk_norm) operands.push_back(random_tensor({d}, DType::kF32, 6)), operands.push_back(random_tensor({d}, DType::kF32, 7));
  operands[0].as_is = true;
  return operands;
}

std::vector<QkvPost> variants(int head_dim) {
  std::vector<QkvPost> all;
  for (bool interleaved : {false, true})
    for (bool qk_norm : {false, true})
      all.push_back({.heads = 6, .kv_heads = 2, .head_dim = head_dim, .interleaved = interleaved, .qk_norm = qk_norm, .eps = 1e-3f});
  return all;
}

TEST(QkvPost, IsItsDecomposition) {
  for (const QkvPost& a : variants(12)) expect_decomposition_matches("qkv_post", a, operands(a, 8, DType::kF32));
}

TEST(QkvPost, KernelsMatchTheReference) {
  for (const auto& [head_dim, rotary_dim] : {std::pair{12, 12}, {20, 10}, {64, 64}, {80, 32}, {128, 128}, {8, 0}})
    for (const QkvPost& a : variants(head_dim)) {
      expect_kernels_match_reference("qkv_post", a, operands(a, rotary_dim, DType::kF32));
      expect_kernels_match_reference("qkv_post", a, operands(a, rotary_dim, DType::kF16), {.relative = 1e-3, .absolute = 1e-6});
      expect_kernels_match_reference("qkv_post", a, operands(a, rotary_dim, DType::kBF16), {.relative = 8e-3, .absolute = 1e-6});
    }
}

}  // namespace
}  // namespace headrace
