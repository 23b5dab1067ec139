// Helpers for references: they read operands of any type as fp32, compute slowly and obviously, and store in any type.
#pragma once

#include <vector>

#include "core/dtype.h"
#include "headrace/graph.h"

namespace headrace {

HostTensor contiguous_copy(const Tensor& tensor);                                   // of any strides
std::vector<float> read_floats(const Tensor& contiguous);                           // of any dtype, block types too
void write_floats(const Tensor& contiguous, const std::vector<float>& values);      // rounded to the tensor's dtype
std::vector<int64_t> read_integers(const Tensor& contiguous);                       // of an integer dtype or bool
void write_integers(const Tensor& contiguous, const std::vector<int64_t>& values);  // to the same; they wrap around, bool is "not zero"

// Calls body(output index, offset of each operand's element) for every element of `output` with PyTorch's broadcasting.
void for_each_broadcast(const Sizes& output, std::span<const Tensor> inputs,
                        const std::function<void(int64_t, std::span<const int64_t>)>& body);

// PyTorch's rules over symbolic shapes. Both reject through the call.
Shape broadcast_shapes(const OpCall& call, const Shape& a, const Shape& b);
DType promote(const OpCall& call, DType a, DType b);
// Of tensors: one without axes counts only where it is of a higher kind (bool < integers < floats).
DType promote(const OpCall& call, const TensorType& a, const TensorType& b);
int normalize_axis(const OpCall& call, int64_t axis, int rank);  // negative counts from the back

// A tensor with axis `axis` in the middle: element (o, i, n) of (outer, length, inner) is at (o * length + i) * inner + n.
struct AxisSplit {
  int64_t outer = 1, length = 1, inner = 1;
  AxisSplit(const Sizes& sizes, int axis);
};

}  // namespace headrace
