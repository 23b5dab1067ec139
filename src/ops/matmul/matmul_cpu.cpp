// Products of f32 matrices of any strides: threads share panels of a few columns and some rows of every batch's result.
#include <algorithm>

#include "ops/for_isa.h"
#include "ops/matmul/matmul.h"
#include "ops/strided_loop.h"

namespace headrace {

// c[m][columns] = a[m][k] b[k][columns]; rows and columns are strides in elements, c's columns are neighbours.
struct MatmulPanel {
  const float *a, *b;
  float* c;
  int64_t a_row, a_column, b_row, b_column, c_row;
  int64_t m, k, columns;
};
inline constexpr int64_t kMatmulDepth = 256;  // of b packed at once: 32 KiB with the widest vectors

}  // namespace headrace

#define HEADRACE_FOR_EACH_ISA "ops/matmul/matmul.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

constexpr int64_t kRows = 96;  // of one share of a panel

bool supports(const KernelRequest& request) { return request.call.input(0).dtype == DType::kF32; }

// A batch's matrices start at the rows of a tensor that lacks the two last axes.
Rows batches(Tensor t) {
  Tensor corners{t.data, t.dtype, {}, {}};
  for (int i = 0; i < t.rank() - 2; ++i) {
    corners.sizes.push_back(t.sizes[i]);
    corners.strides.push_back(t.strides[i]);
  }
  corners.sizes.push_back(1);
  corners.strides.push_back(1);
  return Rows(corners);
}

class MatmulPanels : public CpuKernel {
 public:
  explicit MatmulPanels(const KernelRequest& request) : isa_(cpu_isa(request)) {}

  void run(Team& team, const Launch& launch) const override {
    const MatmulView view(launch.inputs[0], launch.inputs[1], launch.outputs[0]);
    const Rows a_batches = batches(view.a), b_batches = batches(view.b), c_batches = batches(view.c);
    const auto panel = for_isa(isa_, baseline::matmul_panel, avx2::matmul_panel, avx512vnni::matmul_panel);
    const int64_t width = for_isa(isa_, baseline::matmul_tile_columns, avx2::matmul_tile_columns, avx512vnni::matmul_tile_columns)();
    const int64_t m = view.a.sizes[-2], n = view.b.sizes[-1], panels = (n + width - 1) / width, pieces = (m + kRows - 1) / kRows;
    team.for_each(view.batch.numel() * panels * pieces, 1, [&](int64_t unit, int64_t) {
      const int64_t batch = unit / (panels * pieces), column = unit / pieces % panels * width, row = unit % pieces * kRows;
      panel({.a = view.a.as<float>() + a_batches.offset(batch) + row * view.a.strides[-2],
             .b = view.b.as<float>() + b_batches.offset(batch) + column * view.b.strides[-1],
             .c = view.c.as<float>() + c_batches.offset(batch) + row * view.c.strides[-2] + column,
             .a_row = view.a.strides[-2],
             .a_column = view.a.strides[-1],
             .b_row = view.b.strides[-2],
             .b_column = view.b.strides[-1],
             .c_row = view.c.strides[-2],
             .m = std::min(kRows, m - row),
             .k = view.a.sizes[-1],
             .columns = std::min(width, n - column)});
    });
  }
  std::string description() const override { return "matmul/panels " + std::string(name(isa_)); }

 private:
  CpuIsa isa_;
};

}  // namespace

void register_matmul_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "matmul", .name = "panels/cpu", .supports = supports, .make = make_as<MatmulPanels>});
}

}  // namespace headrace
