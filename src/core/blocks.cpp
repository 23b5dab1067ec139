#include "core/blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/block_conversions.h"
#include "core/dtype.h"

namespace headrace {
namespace {

template <typename T>
T rounded(float x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != 0;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr T kLowest = std::numeric_limits<T>::min(), kHighest = std::numeric_limits<T>::max();
    if (!(x > float(kLowest))) return kLowest;
    return x < float(kHighest) ? T(std::nearbyint(x)) : kHighest;
  } else {
    return T(x);
  }
}

int64_t num_blocks(DType dtype, int64_t n) {
  const int block = info(dtype).block_elements;
  if (n < 0 || n % block != 0) invalid("{} elements of type {} cannot be converted: wanted whole blocks of {}", n, name(dtype), block);
  return n / block;
}

}  // namespace

void to_float(DType dtype, const void* src, float* dst, int64_t n) {
  const int64_t count = num_blocks(dtype, n);
  if (is_block(dtype)) {
    const DTypeInfo& i = info(dtype);
    blocks::Widen* const widen = blocks::widening(dtype);
    for (int64_t k = 0; k < count; ++k) widen(static_cast<const uint8_t*>(src) + k * i.block_bytes, dst + k * i.block_elements);
    return;
  }
  if (dtype == DType::kBool) {  // a file may hold any byte, and a C++ bool may not
    std::transform(static_cast<const uint8_t*>(src), static_cast<const uint8_t*>(src) + n, dst, [](uint8_t x) { return float(x != 0); });
    return;
  }
  dispatch(dtype, [&]<typename T>() {
    std::transform(static_cast<const T*>(src), static_cast<const T*>(src) + n, dst, [](T x) { return float(x); });
  });
}

void from_float(DType dtype, const float* src, void* dst, int64_t n) {
  const int64_t count = num_blocks(dtype, n);
  if (is_block(dtype)) {
    const DTypeInfo& i = info(dtype);
    blocks::Round* const round = blocks::rounding(dtype);
    if (!round) fail(ErrorCode::kUnsupported, "values cannot be rounded to {}: only to q8_0, q4_0, q4_1, q5_0, q5_1 and iq4_nl", i.name);
    for (int64_t k = 0; k < count; ++k) round(src + k * i.block_elements, static_cast<uint8_t*>(dst) + k * i.block_bytes);
    return;
  }
  dispatch(dtype, [&]<typename T>() { std::transform(src, src + n, static_cast<T*>(dst), rounded<T>); });
}

}  // namespace headrace
