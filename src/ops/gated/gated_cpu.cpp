// Pieces of rows of f32 shared by the threads, so that one row is shared too.
#include <algorithm>

#include "ops/for_isa.h"
#include "ops/gated/gated.h"
#include "ops/strided_loop.h"

#define HEADRACE_FOR_EACH_ISA "ops/gated/gated.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

constexpr int64_t kPiece = 512;  // elements

bool supports(const KernelRequest& request) { return request.call.input(0).dtype == DType::kF32; }

class GatedPieces : public CpuKernel {
 public:
  explicit GatedPieces(const KernelRequest& request) : isa_(cpu_isa(request)), activation_(request.call.as<Gated>().activation) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &out = launch.outputs[0];
    const Rows rows(x);
    const auto function = for_isa(isa_, baseline::gated_run, avx2::gated_run, avx512vnni::gated_run);
    const int64_t n = rows.length() / 2, pieces = (n + kPiece - 1) / kPiece;
    float gate[kPiece], value[kPiece];
    const auto [begin, end] = team.share(rows.count() * pieces);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit / pieces, first = unit % pieces * kPiece, count = std::min(kPiece, n - first);
      const float* from = x.as<float>() + rows.offset(row) + first * rows.step();
      function(activation_, dense(from, rows.step(), count, gate), dense(from + n * rows.step(), rows.step(), count, value),
               out.as<float>() + row * n + first, count);
    }
  }
  std::string description() const override { return "gated/pieces " + std::string(name(isa_)); }

 private:
  CpuIsa isa_;
  Activation activation_;
};

}  // namespace

void register_gated_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "gated", .name = "pieces/cpu", .supports = supports, .make = make_as<GatedPieces>});
}

}  // namespace headrace
