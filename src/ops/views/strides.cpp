#include "ops/views/strides.h"

namespace headrace {

std::optional<Sizes> view_strides(const Sizes& sizes, const Sizes& strides, const Sizes& wanted) {
  Sizes result = Tensor::contiguous(static_cast<void*>(nullptr), DType::kF32, wanted).strides;
  if (sizes.numel() != wanted.numel()) return std::nullopt;
  if (sizes.numel() == 0) return result;  // no element is ever looked at
  // From the innermost axis outwards: take a group of axes that behave as one, then cut it into wanted axes.
  int from = sizes.rank() - 1, to = wanted.rank() - 1;
  while (from >= 0) {
    if (sizes[from] == 1) {
      --from;
      continue;
    }
    const int64_t base = strides[from];
    int64_t group = sizes[from];
    for (--from; from >= 0 && (sizes[from] == 1 || strides[from] == base * group); --from) group *= sizes[from];
    int64_t cut = 1;
    for (; to >= 0 && cut < group; --to) {
      result[to] = base * cut;
      cut *= wanted[to];
    }
    if (cut != group) return std::nullopt;
  }
  return result;  // what is left of wanted has size 1, where any stride will do
}

Tensor view_at(const Tensor& t, int64_t offset, const Sizes& sizes, const Sizes& strides) {
  const DTypeInfo& element = info(t.dtype);
  return {t.as<std::byte>() + offset / element.block_elements * element.block_bytes, t.dtype, sizes, strides};
}

}  // namespace headrace
