#include "core/dtype.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr DTypeInfo kInfo[kNumDTypes] = {
    {"f32", 1, 4},      {"f16", 1, 2},      {"bf16", 1, 2},     {"i64", 1, 8},      {"i32", 1, 4},      {"i8", 1, 1},     {"u8", 1, 1},
    {"bool", 1, 1},     {"q8_0", 32, 34},   {"q4_0", 32, 18},   {"q4_1", 32, 20},   {"q5_0", 32, 22},   {"q5_1", 32, 24}, {"q2_k", 256, 84},
    {"q3_k", 256, 110}, {"q4_k", 256, 144}, {"q5_k", 256, 176}, {"q6_k", 256, 210}, {"iq4_nl", 32, 18},
};

}  // namespace

const DTypeInfo& info(DType dtype) { return kInfo[int(dtype)]; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (kInfo[i].name == name) return DType(i);
  return std::nullopt;
}

std::optional<int64_t> checked_bytes(DType dtype, std::span<const int64_t> sizes) {
  int64_t count = 1;  // as if no size were 0, so that strides cannot overflow either
  bool empty = false;
  for (int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count)) return std::nullopt;
    empty = empty || size == 0;
  }
  const DTypeInfo& i = info(dtype);
  if (i.block_elements > 1 && (sizes.empty() || sizes.back() % i.block_elements != 0)) return std::nullopt;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count / i.block_elements, int64_t{i.block_bytes}, &bytes)) return std::nullopt;
  return empty ? 0 : bytes;
}

}  // namespace headrace
