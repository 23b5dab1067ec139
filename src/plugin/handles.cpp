#include "plugin/handles.h"

#include "core/error.h"

namespace headrace {
namespace {

// By DType. Numbers of the interface never change, whatever becomes of the enum.
constexpr headrace_dtype kDTypes[] = {
    HEADRACE_F32,  HEADRACE_F16,  HEADRACE_BF16, HEADRACE_I64,  HEADRACE_I32,    HEADRACE_I8,   HEADRACE_U8,
    HEADRACE_BOOL, HEADRACE_Q8_0, HEADRACE_Q4_0, HEADRACE_Q4_1, HEADRACE_Q5_0,   HEADRACE_Q5_1, HEADRACE_Q2_K,
    HEADRACE_Q3_K, HEADRACE_Q4_K, HEADRACE_Q5_K, HEADRACE_Q6_K, HEADRACE_IQ4_NL,
};
static_assert(std::size(kDTypes) == kNumDTypes);

}  // namespace

headrace_dtype to_c(DType dtype) { return kDTypes[size_t(dtype)]; }

DType dtype_of_c(headrace_dtype dtype) {
  for (size_t i = 0; i < std::size(kDTypes); ++i)
    if (kDTypes[i] == dtype) return DType(i);
  invalid("{} is no element type", dtype);
}

headrace_type to_c(const TensorType& type) {
  headrace_type c{.dtype = to_c(type.dtype), .rank = uint32_t(type.shape.rank()), .dims = {}};
  for (int i = 0; i < type.shape.rank(); ++i) c.dims[i] = to_c(&type.shape[i]);
  return c;
}

std::vector<headrace_type> to_c(std::span<const TensorType> types) {
  std::vector<headrace_type> c;
  for (const TensorType& type : types) c.push_back(to_c(type));
  return c;
}

TensorType type_of_c(const headrace_type& c) {
  TensorType type{dtype_of_c(c.dtype), {}};
  if (c.rank > kMaxRank) invalid("a rank of {}; at most {} is possible", c.rank, kMaxRank);
  for (uint32_t i = 0; i < c.rank; ++i) {
    if (!c.dims[i]) invalid("a type of rank {} without a size for axis {}", c.rank, i);
    const Dim& dim = of_c(c.dims[i]);
    if (dim.is_constant() && dim.value() < 0) invalid("a size of {} for axis {}", dim.value(), i);
    type.shape.push_back(dim);
  }
  return type;
}

headrace_tensor to_c(const Tensor& tensor) {
  headrace_tensor c{.data = tensor.data, .dtype = to_c(tensor.dtype), .rank = uint32_t(tensor.rank()), .sizes = {}, .strides = {}};
  std::copy(tensor.sizes.begin(), tensor.sizes.end(), c.sizes);
  std::copy(tensor.strides.begin(), tensor.strides.end(), c.strides);
  return c;
}

std::vector<headrace_tensor> to_c(std::span<const Tensor> tensors) {
  std::vector<headrace_tensor> c;
  for (const Tensor& tensor : tensors) c.push_back(to_c(tensor));
  return c;
}

}  // namespace headrace
