// quantize_tensor: symmetric int8, with scales found at run time.
//
//   q, scale = quantize_tensor(x) {granularity="token"}
//   scale = max |x| / 127, over each row (granularity "token") or over all of x ("tensor"); 1 where that is 0, NaN where an element is NaN
//           or infinite: what is computed with it shows that
//   q     = round(x / scale), to the even neighbour when halfway
//   x     (..., n) float32, float16 or bfloat16
//   q     x's shape, int8;   scale: x's shape without the last axis, or (1); float32
//
// Rows of a weight (out, in) are its output channels: granularity "token" quantizes it per channel.
#include "quantize_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "headrace/plugin.hpp"

namespace {

using namespace headrace::plugin;

// ---------------------------------------------------------------------------------------------------------------- the op

enum class Granularity { kToken, kTensor };
Granularity granularity_of(const Attributes& attributes) {
  const auto word = attributes.get<std::string>("granularity");
  if (word == "token") return Granularity::kToken;
  if (word == "tensor") return Granularity::kTensor;
  throw Error(HEADRACE_INVALID_ARGUMENT, "granularity '" + word + "' is neither token nor tensor");
}

FloatType float_type(headrace_dtype dtype) {
  return dtype == HEADRACE_F32 ? FloatType::kF32 : dtype == HEADRACE_F16 ? FloatType::kF16 : FloatType::kBF16;
}

std::vector<Type> infer(const Call& call) {
  const Type x = call.input(0);
  call.want(x.dtype == HEADRACE_F32 || x.dtype == HEADRACE_F16 || x.dtype == HEADRACE_BF16, "floats are wanted: f32, f16 or bf16");
  call.want(x.rank() >= 1, "at least one axis is wanted");
  std::vector<Dim> scales(x.dims.begin(), x.dims.end() - 1);
  if (granularity_of(call.attributes()) == Granularity::kTensor) scales = {call.number(1)};
  return {{HEADRACE_I8, x.dims}, {HEADRACE_F32, scales}};
}

// ---------------------------------------------------------------------------------------------------------------- arithmetic

float widen(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
float from_bf16(uint16_t half) { return widen(uint32_t{half} << 16); }
float from_f16(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31, exponent = half >> 10 & 31, mantissa = half & 1023;
  if (exponent == 31) return widen(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) return std::copysign(std::ldexp(float(mantissa), -24), widen(sign));
  return widen(sign | (exponent + 112) << 23 | mantissa << 13);
}

// Row `row` of x as floats: where they are, or in `copy`.
const float* row_of(const QuantizeParams& p, int64_t row, std::vector<float>& copy) {
  if (p.type == FloatType::kF32) return static_cast<const float*>(p.x) + row * p.n;
  copy.resize(size_t(p.n));
  const uint16_t* from = static_cast<const uint16_t*>(p.x) + row * p.n;
  for (int64_t i = 0; i < p.n; ++i) copy[size_t(i)] = p.type == FloatType::kBF16 ? from_bf16(from[i]) : from_f16(from[i]);
  return copy.data();
}

// NaN is larger than everything.
float larger(float a, float b) { return a != a || a > b ? a : b; }

// NaN when an element is NaN or infinite. In eight lanes, so that the compiler can use vectors: a maximum does not depend on the order.
float largest(const float* x, int64_t n) {
  float lanes[8] = {}, bad[8] = {};  // x * 0 is NaN for those
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int lane = 0; lane < 8; ++lane) {
      const float magnitude = std::fabs(x[i + lane]);
      lanes[lane] = magnitude > lanes[lane] ? magnitude : lanes[lane];
      bad[lane] += x[i + lane] * 0;
    }
  for (; i < n; ++i) lanes[0] = std::max(lanes[0], std::fabs(x[i])), bad[0] += x[i] * 0;
  float most = 0;
  for (int lane = 0; lane < 8; ++lane) most = larger(most, lanes[lane] + bad[lane]);
  return most;
}
float scale_of(float largest) { return largest == 0 ? 1 : largest / 127; }

// NaN becomes -127, as on a GPU.
float clamped(float x) { return std::min(std::max(-127.0f, x), 127.0f); }

// Adding 1.5 * 2^23 leaves the integer, rounded to even, in the low bits; |x / scale| is at most 127.
void quantize_row(const float* x, float scale, int8_t* q, int64_t n) {
  constexpr float kMagic = 12582912;
  const float inverse = 1 / scale;
  for (int64_t i = 0; i < n; ++i) {
    const float shifted = clamped(x[i] * inverse) + kMagic;
    int32_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    q[i] = int8_t(bits - 0x4b400000);
  }
}

QuantizeParams params_of(const Tensor& x, const Tensor& q, const Tensor& scales) {
  const int64_t n = x.size(-1);
  return {x.data, float_type(x.dtype), q.as<int8_t>(), scales.as<float>(), n ? x.numel() / n : 0, n};
}

void reference(const Call& call, const Tensors& inputs, const Tensors& outputs) {
  const QuantizeParams p = params_of(inputs[0], outputs[0], outputs[1]);
  const bool per_token = granularity_of(call.attributes()) == Granularity::kToken;
  std::vector<float> copy;
  float overall = 0;
  for (int64_t row = 0; row < p.rows && !per_token; ++row) overall = larger(overall, largest(row_of(p, row, copy), p.n));
  if (!per_token) p.scales[0] = scale_of(overall);
  for (int64_t row = 0; row < p.rows; ++row) {
    const float* x = row_of(p, row, copy);
    if (per_token) p.scales[row] = scale_of(largest(x, p.n));
    const float inverse = 1 / p.scales[per_token ? row : 0];
    for (int64_t i = 0; i < p.n; ++i) p.q[row * p.n + i] = int8_t(std::nearbyint(clamped(x[i] * inverse)));
  }
}

// ---------------------------------------------------------------------------------------------------------------- CPU

class QuantizeRowsCpu {
 public:
  explicit QuantizeRowsCpu(const KernelRequest& request) : granularity_(granularity_of(request.call().attributes())) {}

  size_t workspace_bytes(const Launch& sizes) const { return granularity_ == Granularity::kTensor ? size_t(sizes.num_threads()) * 64 : 0; }

  void run(const Launch& launch) const {
    const QuantizeParams p = params_of(launch.input(0), launch.output(0), launch.output(1));
    const auto [begin, end] = launch.share(p.rows);
    std::vector<float> copy;
    const float shared = granularity_ == Granularity::kTensor ? scale_for_all(launch, p) : 0;
    for (int64_t row = begin; row < end; ++row) {
      const float* x = row_of(p, row, copy);
      const float scale = granularity_ == Granularity::kTensor ? shared : scale_of(largest(x, p.n));
      if (granularity_ == Granularity::kToken) p.scales[row] = scale;
      quantize_row(x, scale, p.q + row * p.n, p.n);
    }
  }

 private:
  // Each thread leaves the largest of its rows in a cache line of its own.
  float scale_for_all(const Launch& launch, const QuantizeParams& p) const {
    const auto place = [&](int thread) { return reinterpret_cast<float*>(static_cast<char*>(launch.workspace()) + 64 * thread); };
    const auto [begin, end] = launch.share(p.rows);
    std::vector<float> copy;
    float most = 0;
    for (int64_t row = begin; row < end; ++row) most = larger(most, largest(row_of(p, row, copy), p.n));
    *place(launch.thread()) = most;
    launch.barrier();
    for (int t = 0; t < launch.num_threads(); ++t) most = larger(most, *place(t));
    if (launch.thread() == 0) p.scales[0] = scale_of(most);
    return scale_of(most);
  }

  Granularity granularity_;
};

// ---------------------------------------------------------------------------------------------------------------- CUDA

#ifdef QUANTIZE_TENSOR_CUDA
class QuantizeCuda {
 public:
  explicit QuantizeCuda(const KernelRequest& request) : granularity_(granularity_of(request.call().attributes())) {}

  size_t workspace_bytes(const Launch&) const { return granularity_ == Granularity::kTensor ? sizeof(float) : 0; }

  void run(const Launch& launch) const {
    const Tensor x = launch.input(0);
    int64_t dense = 1;
    for (int axis = int(x.rank) - 1; axis >= 0; --axis) {
      if (x.size(axis) != 1 && x.stride(axis) != dense) throw Error(HEADRACE_UNSUPPORTED, "contiguous operands are wanted");
      dense *= x.size(axis);
    }
    const QuantizeParams p = params_of(x, launch.output(0), launch.output(1));
    const int error = granularity_ == Granularity::kToken ? quantize_per_token_cuda(p, launch.stream())
                                                          : quantize_per_tensor_cuda(p, launch.workspace(), launch.stream());
    if (error) throw Error(HEADRACE_INTERNAL, cuda_error_text(error));
  }

 private:
  Granularity granularity_;
};
#endif

}  // namespace

extern "C" uint32_t headrace_plugin_abi_version(void) { return HEADRACE_PLUGIN_ABI; }

extern "C" headrace_status headrace_plugin_init(headrace_context* context, headrace_registrar* registrar) {
  return init(context, registrar, [](Registrar& to) {
    to.describe("quantize_tensor", "1.0");
    Op op{"quantize_tensor", {{"granularity", HEADRACE_FIELD_STRING, "\"token\""}}, 1, infer, reference};
    op.num_outputs = 2;
    to.add(std::move(op));
    to.add_kernel<QuantizeRowsCpu>({"quantize_tensor", "rows"});
#ifdef QUANTIZE_TENSOR_CUDA
    to.add_kernel<QuantizeCuda>({"quantize_tensor", "row_per_block", HEADRACE_CUDA});
#endif
  });
}
