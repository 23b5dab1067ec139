// quantize_tensor_cuda_check: the GPU kernels against plain loops, and their speed.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "../cuda_check.h"
#include "quantize_tensor.h"

namespace {

template <typename T>
constexpr FloatType kType = sizeof(T) == 4              ? FloatType::kF32
                            : std::is_same_v<T, __half> ? FloatType::kF16
                                                        : FloatType::kBF16;

template <typename T>
bool check(const char* name, int64_t rows, int64_t n, bool per_token) {
  Random random;
  std::vector<T> x(size_t(rows * n));
  for (T& v : x) v = T(random.uniform() * 3);
  for (int64_t i = 0; i < n && rows > 2; ++i) x[size_t(2 * n + i)] = T(0.f);  // a row of zeros
  const DeviceArray<T> device_x(x);
  const DeviceArray<int8_t> q(x.size());
  const DeviceArray<float> scales(per_token ? size_t(rows) : 1), workspace(1);
  const QuantizeParams p{device_x.get(), kType<T>, q.get(), scales.get(), rows, n};
  const auto run = [&](cudaStream_t stream) {
    if (per_token ? quantize_per_token_cuda(p, stream) : quantize_per_tensor_cuda(p, workspace.get(), stream)) std::exit(1);
  };
  const double seconds = seconds_of(run);
  const std::vector<int8_t> got = q.read();
  const std::vector<float> got_scales = scales.read();
  float all = 0;
  for (const T& v : x) all = std::max(all, std::fabs(float(v)));
  int64_t wrong = 0;
  for (int64_t row = 0; row < rows; ++row) {
    float most = per_token ? 0 : all;
    for (int64_t i = 0; i < n && per_token; ++i) most = std::max(most, std::fabs(float(x[size_t(row * n + i)])));
    const float scale = most > 0 ? most / 127 : 1, inverse = 1 / scale;
    wrong += std::fabs(got_scales[per_token ? size_t(row) : 0] - scale) > 1e-6f * scale;
    for (int64_t i = 0; i < n; ++i) {
      const float exact = float(x[size_t(row * n + i)]) * inverse;
      wrong += std::fabs(exact - float(got[size_t(row * n + i)])) > 0.5001f;  // halfway, either neighbour
    }
  }
  const double bytes = double(rows * n) * (sizeof(T) * (per_token ? 1 : 2) + 1);
  std::printf("%s  quantize_tensor %s %s [%lld, %lld]: %.1f us, %.0f GB/s\n", wrong ? "FAIL" : "pass", per_token ? "token " : "tensor",
              name, (long long)rows, (long long)n, seconds * 1e6, bytes / seconds * 1e-9);
  return !wrong;
}

}  // namespace

int main() {
  need_gpu();
  bool passed = true;
  for (const bool per_token : {true, false}) {
    for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 7}, {5, 4096}, {33, 8191}, {8192, 4096}, {16384, 8192}}) {
      passed &= check<float>("f32 ", rows, n, per_token);
      passed &= check<__half>("f16 ", rows, n, per_token);
      passed &= check<__nv_bfloat16>("bf16", rows, n, per_token);
    }
  }
  return passed ? 0 : 1;
}
