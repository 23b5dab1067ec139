#include "ops/region/region_rows.h"

#include <algorithm>

namespace headrace {

RegionRows::RegionRows(std::span<const Tensor> operands, int rank, bool last_axis) : strides_(operands.size()), steps_(operands.size(), 0) {
  bool has_row = false;
  for (int axis = rank - 1; axis >= 0; --axis) {
    int64_t size = 1;
    std::vector<int64_t> stride(operands.size(), 0);
    for (size_t k = 0; k < operands.size(); ++k) {
      const Tensor& t = operands[k];
      const int own = axis - (rank - t.rank());
      if (own < 0 || t.sizes[own] == 1) continue;
      size = t.sizes[own];
      stride[k] = t.strides[own];
    }
    if (last_axis && !has_row) {
      length_ = size, steps_ = stride, has_row = true;
      continue;
    }
    if (size == 1) continue;
    if (!has_row) {
      length_ = size, steps_ = stride, has_row = true;
      continue;
    }
    count_ *= size;
    // Joined with the axis inside it, if every operand goes on there in the same steps.
    std::vector<int64_t>* inner = outer_.empty() ? nullptr : &outer_;
    bool joins = inner || !last_axis;
    for (size_t k = 0; joins && k < operands.size(); ++k)
      joins = stride[k] == (inner ? strides_[k].back() * inner->back() : steps_[k] * length_);
    if (joins && inner) {
      inner->back() *= size;
    } else if (joins) {
      length_ *= size, count_ /= std::max<int64_t>(size, 1);
      if (size == 0) count_ = 0;
    } else {
      outer_.push_back(size);
      for (size_t k = 0; k < operands.size(); ++k) strides_[k].push_back(stride[k]);
    }
  }
}

int64_t RegionRows::offset(int operand, int64_t row) const {
  const std::vector<int64_t>& strides = strides_[size_t(operand)];
  int64_t offset = 0;
  for (size_t i = 0; i < outer_.size(); ++i) {
    offset += row % outer_[i] * strides[i];
    row /= outer_[i];
  }
  return offset;
}

}  // namespace headrace
