// Kernels that read operands row by row (a row: the last axis), made fit for operands of any strides.
#pragma once

#include <memory>
#include <vector>

#include "device/cpu/cpu_device.h"

namespace headrace {

// What a kernel asks of its operands' rows, by the operands' numbers.
struct RowNeeds {
  std::vector<int> dense;     // the elements of a row are neighbours in memory
  std::vector<int> even;      // and rows are equally far apart, as Tensor::row goes
  std::vector<int> in_place;  // dense, and written to
};

// `kernel`, which then sees operands as it needs them: those that do not fit are copied into the workspace first. One that is
// written to in place cannot be copied: workspace_bytes throws Error(kUnsupported) if it does not fit.
std::unique_ptr<Kernel> with_dense_rows(std::unique_ptr<CpuKernel> kernel, RowNeeds needs);

}  // namespace headrace
