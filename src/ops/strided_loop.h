// How CPU kernels walk through tensors of any strides.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>

#include "core/thread_pool.h"
#include "headrace/types.h"

namespace headrace {

// n elements that are `step` apart as neighbours: x itself when they are, else gathered into `copy`.
template <typename T>
const T* dense(const T* x, int64_t step, int64_t n, T* copy) {
  if (step == 1 || n <= 1) return x;
  for (int64_t i = 0; i < n; ++i) copy[i] = x[i * step];
  return copy;
}

// Walks through several tensors together, broadcast to one shape. Axes that lie contiguously within each other in every operand
// are joined; along the innermost that remains, kernels see runs.
class StridedLoop {
 public:
  static constexpr int kMaxOperands = 4;
  static constexpr int64_t kRun = 1024;  // the longest run, in elements
  using Offsets = std::array<int64_t, kMaxOperands>;

  StridedLoop(const Sizes& sizes, std::initializer_list<Tensor> operands);

  // Elements between neighbours of a run: 1 when dense, 0 when broadcast.
  int64_t step(int operand) const { return steps_[operand]; }

  // Calls body(offsets, n) for this thread's share of the runs: where each operand's run starts, in elements, and its length.
  template <typename Body>
  void run(const Team& team, Body&& body) const {
    const int64_t parts = (inner_ + kRun - 1) / kRun;
    const auto [begin, end] = team.share(outer_.numel() * parts);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % parts * kRun;
      body(offsets(unit / parts, first), std::min(kRun, inner_ - first));
    }
  }

 private:
  Offsets offsets(int64_t row, int64_t first) const;

  Sizes outer_;                              // joined axes but the innermost
  std::array<Sizes, kMaxOperands> strides_;  // of each operand over outer_
  int64_t inner_ = 1;
  Offsets steps_{};
  int num_operands_;
};

// A tensor as rows of its last axis.
class Rows {
 public:
  explicit Rows(const Tensor& tensor);
  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  int64_t step() const { return step_; }  // elements between neighbours of a row
  int64_t offset(int64_t row) const;      // of a row's first element, in elements

 private:
  Sizes outer_, strides_;  // joined axes but the last
  int64_t count_ = 1, length_ = 1, step_ = 1;
};

// Elements of a run widened to fp32. Of a block type, step is 1 and n is a multiple of the block.
void read_run(const Tensor& tensor, int64_t offset, int64_t step, float* to, int64_t n);

// The same tensor with blocks for elements: sizes and strides count blocks, of info(dtype).block_bytes each.
Tensor in_blocks(Tensor tensor);

// Copies n elements of `bytes` each; steps count elements.
void copy_run(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t n, int64_t bytes);

// Copies source to destination, tensors of equal sizes and dtype, by all threads. Block types: last axes dense.
void copy_strided(const Team& team, const Tensor& source, const Tensor& destination);

}  // namespace headrace
