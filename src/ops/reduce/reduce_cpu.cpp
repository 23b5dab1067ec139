// Reductions of f32 along the last axis: rows shared by the threads.
#include <algorithm>
#include <cstring>

#include "device/cpu/cpu_device.h"
#include "ops/reduce/reduce.h"
#include "ops/strided_loop.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) {
  const TensorType& x = request.call.input(0);
  const std::vector<int64_t>& axes = request.call.as<Reduce>().axes;
  return x.dtype == DType::kF32 && x.shape.rank() >= 1 &&
         (axes.size() == 1 ? axes[0] == -1 || axes[0] == x.shape.rank() - 1 : axes.empty() && x.shape.rank() == 1);
}

// Eight sums side by side, which a compiler turns into vectors, and which round less than one.
float sum_of(const float* x, int64_t step, int64_t n) {
  float sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) sums[k] += x[(i + k) * step];
  for (; i < n; ++i) sums[0] += x[i * step];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

float product_of(const float* x, int64_t step, int64_t n) {
  float product = 1;
  for (int64_t i = 0; i < n; ++i) product *= x[i * step];
  return product;
}

// The first NaN, or else the first of the largest.
template <typename Before>
int64_t first_by(Before before, const float* x, int64_t step, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n && x[best * step] == x[best * step]; ++i)
    if (before(x[i * step], x[best * step]) || x[i * step] != x[i * step]) best = i;
  return best;
}

class ReduceRows : public CpuKernel {
 public:
  explicit ReduceRows(const KernelRequest& request)
      : reduction_(Reduction(std::find(std::begin(kReductionNames), std::end(kReductionNames), request.call.op.name) - kReductionNames)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &out = launch.outputs[0];
    const Rows rows(x);
    const int64_t n = rows.length(), step = rows.step();
    const auto larger = [](float a, float b) { return a > b; };
    const auto smaller = [](float a, float b) { return a < b; };
    if (n == 0 && reduction_ > Reduction::kMean) {
      if (team.rank() == 0) std::memset(out.data, 0, size_t(out.bytes()));
      return;
    }
    const auto [begin, end] = team.share(rows.count());
    for (int64_t row = begin; row < end; ++row) {
      const float* from = x.as<float>() + rows.offset(row);
      switch (reduction_) {
        case Reduction::kSum: out.as<float>()[row] = sum_of(from, step, n); break;
        case Reduction::kProd: out.as<float>()[row] = product_of(from, step, n); break;
        case Reduction::kMean: out.as<float>()[row] = sum_of(from, step, n) / float(n); break;
        case Reduction::kMax: out.as<float>()[row] = from[first_by(larger, from, step, n) * step]; break;
        case Reduction::kMin: out.as<float>()[row] = from[first_by(smaller, from, step, n) * step]; break;
        case Reduction::kArgmax: out.as<int64_t>()[row] = first_by(larger, from, step, n); break;
      }
    }
  }
  std::string description() const override { return std::string(kReductionNames[int(reduction_)]) + "/rows"; }

 private:
  Reduction reduction_;
};

}  // namespace

void register_reduce_cpu(KernelRegistry& kernels) {
  for (std::string_view op : kReductionNames)
    kernels.add({.op = std::string(op), .name = "rows/cpu", .supports = supports, .make = make_as<ReduceRows>});
}

}  // namespace headrace
