#include "comm/reduce_ranks.h"

#include "core/dtype.h"

namespace headrace {
namespace {

template <typename T>
T combine(T a, T b, RankReduction reduction) {
  if (reduction == RankReduction::kMax) return a != a || a > b ? a : b;
  if (reduction == RankReduction::kMin) return a != a || a < b ? a : b;
  if constexpr (std::is_integral_v<T>) return T(uint64_t(a) + uint64_t(b));
  else return a + b;
}

}  // namespace

void reduce_ranks(DType dtype, std::span<const void* const> inputs, void* output, int64_t count, RankReduction reduction) {
  dispatch(dtype, [&]<typename T>() {
    using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, float>;
    for (int64_t i = 0; i < count; ++i) {
      const auto value = [&](size_t rank) { return Wide(static_cast<const T*>(inputs[rank])[i]); };
      Wide result = value(0);
      for (size_t rank = 1; rank < inputs.size(); ++rank) result = combine(result, value(rank), reduction);
      if (reduction == RankReduction::kMean) result /= Wide(inputs.size());
      static_cast<T*>(output)[i] = T(result);
    }
  });
}

}  // namespace headrace
