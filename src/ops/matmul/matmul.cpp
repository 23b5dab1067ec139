#include "ops/matmul/matmul.h"

#include <algorithm>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &a = call.input(0), &b = call.input(1);
  call.want(is_float(a.dtype) && a.dtype == b.dtype,
            "both operands are wanted in one float type: cast one of them (block types: see linear)");
  call.want(a.shape.rank() >= 1 && b.shape.rank() >= 1, "both operands are wanted with at least one axis");
  const Dim& k = b.shape.rank() == 1 ? b.shape[0] : b.shape[-2];
  call.want(a.shape[-1] == k, "the last size of a, " + a.shape[-1].to_string() +
                                  ", is wanted equal to the size of b that it is summed with, " + k.to_string());
  const auto batch = [](const Shape& s) { return Shape(std::vector<Dim>(s.dims().begin(), s.dims().end() - std::min(2, s.rank()))); };
  Shape c = broadcast_shapes(call, batch(a.shape), batch(b.shape));
  if (a.shape.rank() > 1) c.push_back(a.shape[-2]);
  if (b.shape.rank() > 1) c.push_back(b.shape[-1]);
  return {{a.dtype, c}};
}

// t with an axis of size 1 put in at `axis`.
Tensor with_axis(const Tensor& t, int axis) {
  Tensor wide{t.data, t.dtype, {}, {}};
  for (int i = 0; i <= t.rank(); ++i) {
    const int own = i < axis ? i : i - 1;
    wide.sizes.push_back(i == axis ? 1 : t.sizes[own]);
    wide.strides.push_back(i == axis ? 0 : t.strides[own]);
  }
  return wide;
}

// t with leading axes as in `batch`, broadcast by stride 0.
Tensor with_batch(const Tensor& t, const Sizes& batch) {
  Tensor wide{t.data, t.dtype, batch, batch};
  for (int i = 0; i < batch.rank(); ++i) {
    const int own = i - (batch.rank() - (t.rank() - 2));
    wide.strides[i] = own >= 0 && t.sizes[own] != 1 ? t.strides[own] : 0;
  }
  for (int i = -2; i < 0; ++i) {
    wide.sizes.push_back(t.sizes[i]);
    wide.strides.push_back(t.strides[i]);
  }
  return wide;
}

void reference(const OpCall&, std::span<const Tensor> in, std::span<const Tensor> out) {
  const MatmulView view(in[0], in[1], out[0]);
  const std::vector<float> a = read_floats(in[0]), b = read_floats(in[1]);
  std::vector<float> c(size_t(out[0].numel()));
  const int64_t m = view.a.sizes[-2], k = view.a.sizes[-1], n = view.b.sizes[-1];
  // The strides of view.a and view.b are those of contiguous tensors, so they lead into the vectors too.
  const Tensor batches[] = {view.a, view.b};
  Tensor corners[2];  // of each batch's matrices
  for (int i = 0; i < 2; ++i)
    corners[i] = {nullptr, DType::kF32, view.batch, Sizes(std::span(batches[i].strides.begin(), size_t(view.batch.rank())))};
  for_each_broadcast(view.batch, corners, [&](int64_t batch, std::span<const int64_t> at) {
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        float sum = 0;
        for (int64_t i = 0; i < k; ++i)
          sum += a[at[0] + row * view.a.strides[-2] + i * view.a.strides[-1]] *
                 b[at[1] + i * view.b.strides[-2] + column * view.b.strides[-1]];
        c[(batch * m + row) * n + column] = sum;
      }
  });
  write_floats(out[0], c);
}

}  // namespace

MatmulView::MatmulView(const Tensor& left, const Tensor& right, const Tensor& result) : a(left), b(right), c(result) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = with_axis(a, 0);
  if (column) b = with_axis(b, 1);
  if (row) c = with_axis(c, c.rank() - (column ? 0 : 1));
  if (column) c = with_axis(c, c.rank());
  batch = Sizes(std::span(c.sizes.begin(), size_t(c.rank() - 2)));
  a = with_batch(a, batch);
  b = with_batch(b, batch);
}

void register_matmul(OpRegistry& ops) {
  ops.add({.name = "matmul", .min_inputs = 2, .max_inputs = 2, .infer = infer, .reference = reference});
}

}  // namespace headrace
