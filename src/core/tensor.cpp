#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/dtype.h"
#include "core/error.h"

namespace headrace {

Sizes::Sizes(std::initializer_list<int64_t> values) : Sizes(std::span<const int64_t>(values.begin(), values.size())) {}

Sizes::Sizes(std::span<const int64_t> values) {
  for (int64_t v : values) push_back(v);
}

void Sizes::push_back(int64_t value) {
  if (rank_ == kMaxRank) invalid("a tensor has at most {} axes", kMaxRank);
  values_[rank_++] = value;
}

int64_t Sizes::numel() const {
  int64_t n = 1;
  for (int64_t v : *this) n *= v;
  return n;
}

std::string Sizes::to_string() const { return fmt::format("[{}]", fmt::join(begin(), end(), ", ")); }

bool Sizes::operator==(const Sizes& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

Tensor Tensor::contiguous(void* data, DType dtype, const Sizes& sizes) {
  Tensor t{data, dtype, sizes, sizes};
  int64_t stride = 1;
  for (int i = sizes.rank() - 1; i >= 0; --i) {
    t.strides[i] = stride;
    stride *= sizes[i];
  }
  return t;
}

bool Tensor::is_contiguous() const {
  int64_t stride = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (sizes[i] != 1 && strides[i] != stride) return false;
    stride *= sizes[i];
  }
  return true;
}

HostTensor::HostTensor(DType dtype, const Sizes& sizes) {
  const std::optional<int64_t> bytes = checked_bytes(dtype, sizes);
  if (!bytes) invalid("a tensor {}{} has no valid size in bytes", name(dtype), sizes.to_string());
  const size_t padded = (size_t(*bytes) + 63) / 64 * 64 + 64;
  void* p = std::aligned_alloc(64, padded);
  if (!p) fail(ErrorCode::kOutOfMemory, "no memory for a tensor {}{} of {} bytes", name(dtype), sizes.to_string(), *bytes);
  std::memset(p, 0, padded);
  bytes_ = std::shared_ptr<void>(p, std::free);
  view_ = Tensor::contiguous(p, dtype, sizes);
}

}  // namespace headrace
