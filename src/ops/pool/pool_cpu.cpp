// Pooling of f32: threads share the rows of the result, which holds what has been seen of its windows so far.
#include <algorithm>

#include "ops/for_isa.h"
#include "ops/pool/pool.h"
#include "ops/strided_loop.h"

namespace headrace {
using PoolRun = void (*)(const float* x, int64_t step, float* y, int64_t n);
}

#define HEADRACE_FOR_EACH_ISA "ops/pool/pool.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) { return request.call.input(0).dtype == DType::kF32; }

class PoolRows : public CpuKernel {
 public:
  explicit PoolRows(const KernelRequest& request)
      : op_(request.call.op.name), isa_(cpu_isa(request)), flat_(op_.ends_with("1d")), pooling_(pooling_of(request.call)),
        run_(for_isa(isa_, baseline::pool_function, avx2::pool_function, avx512vnni::pool_function)(pooling_.is_max)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &y = launch.outputs[0];
    const Rows rows(x);
    const int64_t height = flat_ ? 1 : x.sizes[-2], out_height = flat_ ? 1 : y.sizes[-2], width = x.sizes[-1], out_width = y.sizes[-1];
    const Window &down = pooling_.windows[0], &across = pooling_.windows[1];
    const auto [begin, end] = team.share(out_width == 0 ? 0 : y.numel() / out_width);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t plane = row / out_height, top = down.begin(row % out_height);
      float* to = y.as<float>() + row * out_width;
      std::fill_n(to, out_width, pooling_.is_max ? -HUGE_VALF : 0);
      int64_t rows_inside = 0;
      for (int64_t ky = 0; ky < down.size; ++ky) {
        const int64_t h = top + ky * down.dilation;
        if (h < 0 || h >= height) continue;
        ++rows_inside;
        const float* from = x.as<float>() + rows.offset(plane * height + h);
        for (int64_t kx = 0; kx < across.size; ++kx) {
          const int64_t first = across.results_before(0, kx), last = std::min(across.results_before(width, kx), out_width);
          const int64_t column = across.begin(first) + kx * across.dilation;
          if (first < last) run_(from + column * rows.step(), across.stride * rows.step(), to + first, last - first);
        }
      }
      if (!pooling_.is_max) divide(to, out_width, rows_inside, width);
    }
  }
  std::string description() const override { return op_ + "/rows " + std::string(name(isa_)); }

 private:
  // Sums to means: rows_inside of the windows' rows lie in x.
  void divide(float* y, int64_t places, int64_t rows_inside, int64_t width) const {
    const Window& across = pooling_.windows[1];
    for (int64_t i = 0; i < places; ++i) {
      int64_t count = pooling_.windows[0].size * across.size;
      if (!pooling_.counts_padding) {
        const int64_t left = across.begin(i);
        count = rows_inside * (std::min(left + across.size, width) - std::max<int64_t>(left, 0));
      }
      y[i] /= float(count);
    }
  }

  std::string op_;
  CpuIsa isa_;
  bool flat_;  // one axis
  Pooling pooling_;
  PoolRun run_;
};

}  // namespace

void register_pool_cpu(KernelRegistry& kernels) {
  for (const char* op : {"max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d"})
    kernels.add({.op = op, .name = "rows/cpu", .supports = supports, .make = make_as<PoolRows>});
}

}  // namespace headrace
