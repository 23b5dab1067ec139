// How a region goes through its operands, broadcast to one shape: as rows, and where each operand's elements of a row are.
#pragma once

#include <span>
#include <vector>

#include "headrace/types.h"

namespace headrace {

class RegionRows {
 public:
  // `rank` is the domain's; with `last_axis` a row is the domain's last axis, else as many of its last axes as lie in all operands
  // within each other.
  RegionRows(std::span<const Tensor> operands, int rank, bool last_axis);

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  int64_t step(int operand) const { return steps_[size_t(operand)]; }  // between neighbours of a row, in elements; 0: broadcast
  int64_t offset(int operand, int64_t row) const;                      // of the row's first element, in elements

 private:
  std::vector<int64_t> outer_;                 // joined axes but the row, innermost first
  std::vector<std::vector<int64_t>> strides_;  // of each operand over outer_
  std::vector<int64_t> steps_;
  int64_t count_ = 1, length_ = 1;
};

}  // namespace headrace
