// The best of rows of f32: threads share the rows. The best so far of a row are a heap in the results' memory with the worst on top, so
// that most elements cost one comparison; sorting the heap ends a row.
#include <algorithm>

#include "device/cpu/cpu_device.h"
#include "ops/strided_loop.h"
#include "ops/topk/topk.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) {
  const TensorType& x = request.call.input(0);
  const int64_t axis = request.call.as<TopK>().axis;
  return x.dtype == DType::kF32 && (axis == -1 || axis == x.shape.rank() - 1);
}

struct Larger {
  static bool is_better(float a, float b) { return a > b || (a != a && b == b); }
};
struct Smaller {
  static bool is_better(float a, float b) { return a < b || (b != b && a == a); }
};

// Values and their indices; entry 0 is worse than all others.
template <typename Order>
struct Heap {
  float* values;
  int64_t* indices;

  bool comes_before(int64_t i, int64_t j) const {  // of equals the first
    if (Order::is_better(values[i], values[j])) return true;
    return !Order::is_better(values[j], values[i]) && indices[i] < indices[j];
  }
  void swap(int64_t i, int64_t j) {
    std::swap(values[i], values[j]);
    std::swap(indices[i], indices[j]);
  }
  void sink(int64_t i, int64_t size) {
    for (int64_t child; (child = 2 * i + 1) < size; i = child) {
      if (child + 1 < size && comes_before(child, child + 1)) ++child;
      if (!comes_before(i, child)) return;
      swap(i, child);
    }
  }
};

template <typename Order>
void top_of_row(const float* x, int64_t step, int64_t n, int64_t k, float* values, int64_t* indices) {
  Heap<Order> heap{values, indices};
  for (int64_t i = 0; i < k; ++i) values[i] = x[i * step], indices[i] = i;
  for (int64_t i = k / 2; i-- > 0;) heap.sink(i, k);
  for (int64_t i = k; i < n && k > 0; ++i) {
    if (!Order::is_better(x[i * step], values[0])) continue;
    values[0] = x[i * step], indices[0] = i;
    heap.sink(0, k);
  }
  for (int64_t size = k - 1; size > 0; --size) {
    heap.swap(0, size);
    heap.sink(0, size);
  }
}

class TopKHeaps : public CpuKernel {
 public:
  explicit TopKHeaps(const KernelRequest& request) : top_(request.call.as<TopK>()) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor& x = launch.inputs[0];
    const Rows rows(x);
    const int64_t n = rows.length(), k = std::min(top_.k, n);
    const auto [begin, end] = team.share(rows.count());
    for (int64_t row = begin; row < end; ++row) {
      float* values = launch.outputs[0].as<float>() + row * top_.k;
      int64_t* indices = launch.outputs[1].as<int64_t>() + row * top_.k;
      (top_.largest ? top_of_row<Larger> : top_of_row<Smaller>)(x.as<float>() + rows.offset(row), rows.step(), n, k, values, indices);
      std::fill(values + k, values + top_.k, 0.0f);
      std::fill(indices + k, indices + top_.k, 0);
    }
  }
  std::string description() const override { return "topk/heaps"; }

 private:
  TopK top_;
};

}  // namespace

void register_topk_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "topk", .name = "heaps/cpu", .supports = supports, .make = make_as<TopKHeaps>});
}

}  // namespace headrace
