#include "ops/strided_loop.h"

#include <cstring>

#include "core/blocks.h"

namespace headrace {

StridedLoop::StridedLoop(const Sizes& sizes, std::initializer_list<Tensor> operands) : num_operands_(int(operands.size())) {
  // Joined axes, innermost first.
  std::array<Sizes, kMaxOperands> strides;
  Sizes joined;
  for (int axis = sizes.rank() - 1; axis >= 0; --axis) {
    if (sizes[axis] == 1) continue;
    Offsets stride{};
    for (int k = 0; k < num_operands_; ++k) {
      const Tensor& t = operands.begin()[k];
      const int own = axis - (sizes.rank() - t.rank());
      stride[k] = own >= 0 && t.sizes[own] != 1 ? t.strides[own] : 0;
    }
    bool joins = joined.rank() > 0;
    for (int k = 0; joins && k < num_operands_; ++k) joins = stride[k] == strides[k][-1] * joined[-1];
    if (joins) {
      joined[-1] *= sizes[axis];
      continue;
    }
    joined.push_back(sizes[axis]);
    for (int k = 0; k < num_operands_; ++k) strides[k].push_back(stride[k]);
  }
  if (joined.rank() == 0) return;
  inner_ = joined[0];
  for (int k = 0; k < num_operands_; ++k) steps_[k] = strides[k][0];
  for (int i = joined.rank() - 1; i > 0; --i) {
    outer_.push_back(joined[i]);
    for (int k = 0; k < num_operands_; ++k) strides_[k].push_back(strides[k][i]);
  }
}

StridedLoop::Offsets StridedLoop::offsets(int64_t row, int64_t first) const {
  Offsets offsets{};
  for (int k = 0; k < num_operands_; ++k) offsets[k] = first * steps_[k];
  for (int axis = outer_.rank() - 1; axis >= 0; --axis) {
    const int64_t at = row % outer_[axis];
    row /= outer_[axis];
    for (int k = 0; k < num_operands_; ++k) offsets[k] += at * strides_[k][axis];
  }
  return offsets;
}

Rows::Rows(const Tensor& t) {
  if (t.rank() == 0) return;
  length_ = t.sizes[-1];
  step_ = length_ == 1 ? 1 : t.strides[-1];
  Sizes sizes, strides;  // innermost first
  for (int axis = t.rank() - 2; axis >= 0; --axis) {
    count_ *= t.sizes[axis];
    if (t.sizes[axis] == 1) continue;
    if (sizes.rank() > 0 && t.strides[axis] == strides[-1] * sizes[-1]) {
      sizes[-1] *= t.sizes[axis];
    } else {
      sizes.push_back(t.sizes[axis]);
      strides.push_back(t.strides[axis]);
    }
  }
  for (int i = sizes.rank() - 1; i >= 0; --i) outer_.push_back(sizes[i]), strides_.push_back(strides[i]);
}

int64_t Rows::offset(int64_t row) const {
  if (outer_.rank() == 1) return row * strides_[0];
  int64_t offset = 0;
  for (int axis = outer_.rank() - 1; axis >= 0; --axis) {
    offset += row % outer_[axis] * strides_[axis];
    row /= outer_[axis];
  }
  return offset;
}

void read_run(const Tensor& t, int64_t offset, int64_t step, float* to, int64_t n) {
  const DTypeInfo& type = info(t.dtype);
  const std::byte* from = t.as<std::byte>() + offset / type.block_elements * type.block_bytes;
  if (step == 1 || n <= 1) return to_float(t.dtype, from, to, n);
  for (int64_t i = 0; i < n; ++i) to_float(t.dtype, from + i * step * type.block_bytes, to + i, 1);
}

Tensor in_blocks(Tensor t) {
  const int64_t block = info(t.dtype).block_elements;
  if (block == 1) return t;
  t.sizes[-1] /= block;
  for (int i = 0; i < t.rank() - 1; ++i) t.strides[i] /= block;
  return t;
}

namespace {

template <typename T>
void copy_elements(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step * int64_t(sizeof(T)), from + i * from_step * int64_t(sizeof(T)), sizeof(T));
}

}  // namespace

void copy_run(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t n, int64_t bytes) {
  if (n == 1 || (to_step == 1 && from_step == 1)) std::memcpy(to, from, size_t(n * bytes));
  else if (bytes == 4) copy_elements<uint32_t>(to, to_step, from, from_step, n);
  else if (bytes == 2) copy_elements<uint16_t>(to, to_step, from, from_step, n);
  else if (bytes == 8) copy_elements<uint64_t>(to, to_step, from, from_step, n);
  else
    for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step * bytes, from + i * from_step * bytes, size_t(bytes));
}

void copy_strided(const Team& team, const Tensor& source, const Tensor& destination) {
  const Tensor from = in_blocks(source), to = in_blocks(destination);
  const StridedLoop loop(to.sizes, {to, from});
  const int64_t bytes = info(from.dtype).block_bytes;
  loop.run(team, [&](const StridedLoop::Offsets& at, int64_t n) {
    copy_run(to.as<std::byte>() + at[0] * bytes, loop.step(0), from.as<std::byte>() + at[1] * bytes, loop.step(1), n, bytes);
  });
}

}  // namespace headrace
