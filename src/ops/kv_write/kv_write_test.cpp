#include "ops/kv_write/kv_write.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kTypes = {"bf16[num_blocks, 2, 3, block_tokens, 20]", "f32[tokens, 60]", "f32[tokens, 60]", "i32[tokens]"};

TEST(KvWrite, ReturnsTheCacheItself) {
  EXPECT_EQ(inferred("kv_write", {}, kTypes), kTypes[0]);
  const OpDef* op = builtin_ops()->find("kv_write");
  EXPECT_TRUE(op->writes_state);
  EXPECT_EQ(op->in_place_operand, 0);
}

TEST(KvWrite, RefusesWhatCannotBe) {
  const auto with = [](size_t operand, const std::string& type) {
    std::vector<std::string> types = kTypes;
    types[operand] = type;
    return rejection("kv_write", {}, types);
  };
  EXPECT_THAT(with(0, "i8[num_blocks, 2, 3, block_tokens, 20]"), HasSubstr("kv is wanted"));
  EXPECT_THAT(with(0, "f32[num_blocks, 1, 3, block_tokens, 20]"), HasSubstr("kv is wanted"));
  EXPECT_THAT(with(0, "f32[num_blocks, 2, heads, block_tokens, 20]"), HasSubstr("known"));
  EXPECT_THAT(with(1, "f32[tokens, 61]"), HasSubstr("k is wanted"));
  EXPECT_THAT(with(2, "f32[others, 60]"), HasSubstr("v is wanted"));
  EXPECT_THAT(with(3, "i32[others]"), HasSubstr("slots"));
}

TEST(KvWrite, PutsTokensIntoTheirSlotsAndSkipsThoseWithoutOne) {
  const HostTensor kv(DType::kF32, {2, 2, 1, 2, 1});
  const std::vector<TestOperand> operands = {kv, floats({4, 1}, {1, 2, 3, 7}), floats({4, 1}, {4, 5, 6, 8}), integers({4}, {3, -1, 0, 4})};
  EXPECT_EQ(reference_floats("kv_write", {}, operands), (std::vector<float>{3, 0, 6, 0, 0, 1, 0, 4}));
}

TEST(KvWrite, KernelsMatchTheReference) {
  for (DType t : {DType::kF32, DType::kF16, DType::kBF16})
    for (int64_t head_dim : {1, 20, 64}) {
      std::vector<TestOperand> operands = {random_tensor({5, 2, 3, 4, head_dim}, t), random_tensor({7, 3 * head_dim}, DType::kF32, 2),
                                           random_tensor({7, 3 * head_dim}, DType::kF32, 3), integers({7}, {19, 3, -1, 8, 0, 12, 5})};
      operands[0].as_is = true;
      expect_kernels_match_reference("kv_write", {}, operands, {.relative = 0, .absolute = 0});
    }
}

}  // namespace
}  // namespace headrace
