#include "ops/embedding/embedding.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Embedding, EachIdBecomesARow) {
  EXPECT_EQ(inferred("embedding", Embedding(), {"i32[tokens]", "q4_k[1000, 512]"}), "f32[tokens, 512]");
  EXPECT_EQ(inferred("embedding", Embedding{DType::kBF16}, {"i64[2, tokens]", "bf16[1000, 6]"}), "bf16[2, tokens, 6]");
  EXPECT_THAT(rejection("embedding", Embedding(), {"f32[tokens]", "f32[10, 4]"}), HasSubstr("i32 or i64"));
  EXPECT_THAT(rejection("embedding", Embedding(), {"i32[tokens]", "f32[10]"}), HasSubstr("(rows, hidden)"));
}

TEST(Embedding, IdsOutOfRangeTakeTheNearestRow) {
  EXPECT_THAT(reference_floats("embedding", Embedding(), {integers({3}, {1, -5, 9}), floats({2, 2}, {1, 2, 3, 4})}),
              ElementsAre(3, 4, 1, 2, 3, 4));
}

TEST(Embedding, EveryKernelMatchesTheReferenceForEveryTypeOfTable) {
  const HostTensor ids = integers({3, 2}, {0, 6, 3, -1, 7, 2147483647});
  for (int type = 0; type < kNumDTypes; ++type) {
    const DType dtype = DType(type);
    expect_kernels_match_reference("embedding", Embedding(), {ids, constant(random_tensor({7, is_block(dtype) ? 1280 : 1031}, dtype))},
                                   {.relative = 0, .absolute = 0});
  }
  for (DType result : {DType::kF16, DType::kBF16})
    expect_kernels_match_reference("embedding", Embedding{result},
                                   {integers({4}, {0, 1, 2, 9}, DType::kI64), random_tensor({3, 40}, DType::kBF16)},
                                   {.relative = 0, .absolute = 0});
}

TEST(Embedding, AnEmptyTableGivesZerosAndNoIdsGiveNothing) {
  expect_kernels_match_reference("embedding", Embedding(), {integers({2}, {0, 3}), random_tensor({0, 4})});
  expect_kernels_match_reference("embedding", Embedding(), {integers({0}, {}), random_tensor({3, 4})});
}

}  // namespace
}  // namespace headrace
