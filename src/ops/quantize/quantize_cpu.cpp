// Quantization on a CPU, by way of fp32: threads share the runs of x, its scales and its zero points.
#include <algorithm>
#include <limits>

#include "core/blocks.h"
#include "ops/for_isa.h"
#include "ops/quantize/quantize.h"
#include "ops/strided_loop.h"

#define HEADRACE_FOR_EACH_ISA "ops/quantize/quantize.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

// Widened runs of the operands.
class ScaledRuns {
 public:
  ScaledRuns(std::span<const Tensor> inputs, const Tensor& out, int64_t axis)
      : x_(inputs[0]), scale_(along_axis(inputs[1], x_.rank(), axis)),
        zero_point_(inputs.size() == 3 ? along_axis(inputs[2], x_.rank(), axis) : scale_), has_zero_point_(inputs.size() == 3),
        loop_(out.sizes, {out, x_, scale_, zero_point_}) {}

  // body(x, scale, zero_point, where the run starts in the result, n); it may write to x.
  template <typename Body>
  void run(const Team& team, Body&& body) const {
    float x[StridedLoop::kRun], scale[StridedLoop::kRun], zero_point[StridedLoop::kRun] = {};
    loop_.run(team, [&](const StridedLoop::Offsets& at, int64_t n) {
      read(x_, at[1], loop_.step(1), x, n);
      read(scale_, at[2], loop_.step(2), scale, n);
      if (has_zero_point_) read(zero_point_, at[3], loop_.step(3), zero_point, n);
      body(x, scale, zero_point, at[0], n);
    });
  }

 private:
  static void read(const Tensor& t, int64_t offset, int64_t step, float* to, int64_t n) {
    read_run(t, offset, step, to, step == 0 ? 1 : n);
    if (step == 0) std::fill(to + 1, to + n, to[0]);
  }

  Tensor x_, scale_, zero_point_;
  bool has_zero_point_;
  StridedLoop loop_;
};

template <typename T>
void narrow(const float* x, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = T(x[i]);
}

class QuantizeRuns : public CpuKernel {
 public:
  explicit QuantizeRuns(const KernelRequest& request) : isa_(cpu_isa(request)), attributes_(request.call.as<Quantize>()) {}

  void run(Team& team, const Launch& launch) const override {
    const auto quantize = for_isa(isa_, baseline::quantize_run, avx2::quantize_run, avx512vnni::quantize_run);
    const Tensor& out = launch.outputs[0];
    const ScaledRuns runs(launch.inputs, out, attributes_.axis);
    const bool is_signed = attributes_.dtype == DType::kI8;
    runs.run(team, [&](float* x, const float* scale, const float* zero_point, int64_t at, int64_t n) {
      quantize(x, scale, zero_point, is_signed ? -128 : 0, is_signed ? 127 : 255, x, n);
      if (is_signed) narrow(x, out.as<int8_t>() + at, n);
      else narrow(x, out.as<uint8_t>() + at, n);
    });
  }
  std::string description() const override { return "quantize/runs " + std::string(name(isa_)); }

 private:
  CpuIsa isa_;
  Quantize attributes_;
};

class DequantizeRuns : public CpuKernel {
 public:
  explicit DequantizeRuns(const KernelRequest& request) : isa_(cpu_isa(request)), attributes_(request.call.as<Dequantize>()) {}

  void run(Team& team, const Launch& launch) const override {
    const auto dequantize = for_isa(isa_, baseline::dequantize_run, avx2::dequantize_run, avx512vnni::dequantize_run);
    const Tensor& out = launch.outputs[0];
    const ScaledRuns runs(launch.inputs, out, attributes_.axis);
    runs.run(team, [&](float* q, const float* scale, const float* zero_point, int64_t at, int64_t n) {
      float* to = out.dtype == DType::kF32 ? out.as<float>() + at : q;
      dequantize(q, scale, zero_point, to, n);
      if (to == q) from_float(out.dtype, q, out.as<std::byte>() + at * info(out.dtype).block_bytes, n);
    });
  }
  std::string description() const override { return "dequantize/runs " + std::string(name(isa_)); }

 private:
  CpuIsa isa_;
  Dequantize attributes_;
};

}  // namespace

void register_quantize_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "quantize", .name = "runs/cpu", .supports = supports_all, .make = make_as<QuantizeRuns>});
  kernels.add({.op = "dequantize", .name = "runs/cpu", .supports = supports_all, .make = make_as<DequantizeRuns>});
}

}  // namespace headrace
