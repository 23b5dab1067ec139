#include "ops/reference.h"

#include <algorithm>
#include <cstring>

#include "core/blocks.h"

namespace headrace {

HostTensor contiguous_copy(const Tensor& t) {
  HostTensor copy(t.dtype, t.sizes);
  const int64_t row = t.rank() == 0 ? 1 : t.sizes[-1];
  const bool dense_rows = t.rank() == 0 || t.strides[-1] == 1 || row == 1;
  const int64_t element = info(t.dtype).block_bytes, per_block = info(t.dtype).block_elements;
  int64_t rows = row == 0 ? 0 : t.numel() / row;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r, offset = 0;
    for (int axis = t.rank() - 2; axis >= 0; --axis) {
      offset += rest % t.sizes[axis] * t.strides[axis];
      rest /= t.sizes[axis];
    }
    std::byte* to = copy.as<std::byte>() + storage_bytes(t.dtype, r * row);
    const std::byte* from = t.as<std::byte>() + offset / per_block * element;
    if (dense_rows) {
      std::memcpy(to, from, size_t(storage_bytes(t.dtype, row)));
    } else {
      for (int64_t i = 0; i < row; ++i) std::memcpy(to + i * element, from + i * t.strides[-1] * element, size_t(element));
    }
  }
  return copy;
}

std::vector<float> read_floats(const Tensor& t) {
  std::vector<float> values(size_t(t.numel()));
  to_float(t.dtype, t.data, values.data(), t.numel());
  return values;
}

void write_floats(const Tensor& t, const std::vector<float>& values) { from_float(t.dtype, values.data(), t.data, t.numel()); }

std::vector<int64_t> read_integers(const Tensor& t) {
  std::vector<int64_t> values(size_t(t.numel()));
  dispatch(t.dtype, [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) std::copy_n(t.as<T>(), values.size(), values.begin());
    else fail(ErrorCode::kInternal, "integers are wanted, found {}", name(t.dtype));
  });
  return values;
}

void write_integers(const Tensor& t, const std::vector<int64_t>& values) {
  dispatch(t.dtype, [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) std::transform(values.begin(), values.end(), t.as<T>(), [](int64_t v) { return T(v); });
    else fail(ErrorCode::kInternal, "integers are wanted, found {}", name(t.dtype));
  });
}

void for_each_broadcast(const Sizes& output, std::span<const Tensor> inputs,
                        const std::function<void(int64_t, std::span<const int64_t>)>& body) {
  std::vector<int64_t> offsets(inputs.size());
  const int64_t count = output.numel();
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      const Tensor& t = inputs[k];
      int64_t rest = i;
      offsets[k] = 0;
      for (int axis = output.rank() - 1; axis >= 0; --axis) {
        const int own = axis - (output.rank() - t.rank());
        if (own >= 0 && t.sizes[own] != 1) offsets[k] += rest % output[axis] * t.strides[own];
        rest /= output[axis];
      }
    }
    body(i, offsets);
  }
}

Shape broadcast_shapes(const OpCall& call, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(rank);
  for (int i = 1; i <= rank; ++i) {
    const Dim x = i <= a.rank() ? a[-i] : Dim(1), y = i <= b.rank() ? b[-i] : Dim(1);
    if (x != y && x != Dim(1) && y != Dim(1)) call.reject(fmt::format("sizes {} and {} do not broadcast", x.to_string(), y.to_string()));
    dims[rank - i] = x == Dim(1) ? y : x;
  }
  return Shape(std::move(dims));
}

DType promote(const OpCall& call, DType a, DType b) {
  if (a == b) return a;
  if (is_block(a) || is_block(b)) call.reject("block types take part in no arithmetic: dequantize them first");
  const auto rank = [](DType d) {  // PyTorch's lattice: bool < u8, i8 < i32 < i64 < f16, bf16 < f32
    switch (d) {
      case DType::kBool: return 0;
      case DType::kU8:
      case DType::kI8: return 1;
      case DType::kI32: return 2;
      case DType::kI64: return 3;
      case DType::kF16:
      case DType::kBF16: return 4;
      default: return 5;
    }
  };
  if (rank(a) == rank(b)) return rank(a) == 4 ? DType::kF32 : DType::kI32;  // f16 with bf16, u8 with i8
  return rank(a) > rank(b) ? a : b;
}

DType promote(const OpCall& call, const TensorType& a, const TensorType& b) {
  const DType both = promote(call, a.dtype, b.dtype);
  if ((a.shape.rank() == 0) == (b.shape.rank() == 0)) return both;
  const auto kind = [](DType d) { return d == DType::kBool ? 0 : is_integer(d) ? 1 : 2; };
  const TensorType &tensor = a.shape.rank() == 0 ? b : a, &scalar = a.shape.rank() == 0 ? a : b;
  return kind(scalar.dtype) > kind(tensor.dtype) ? both : tensor.dtype;
}

int normalize_axis(const OpCall& call, int64_t axis, int rank) {
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) call.reject(fmt::format("axis {} of a tensor with {} axes", axis, rank));
  return int(at);
}

AxisSplit::AxisSplit(const Sizes& sizes, int axis) {
  for (int i = 0; i < axis; ++i) outer *= sizes[i];
  length = sizes[axis];
  for (int i = axis + 1; i < sizes.rank(); ++i) inner *= sizes[i];
}

}  // namespace headrace
