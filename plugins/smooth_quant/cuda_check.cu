// smooth_quant_cuda_check: the GPU kernels against plain loops, and their speed.
#include "../cuda_check.h"
#include "smooth_quant.h"

namespace {

// Large products are compared at some places of every row.
bool check(int64_t m, int64_t n, int64_t k, bool per_row, bool per_column) {
  Random random;
  std::vector<int8_t> x(size_t(m * k)), w(size_t(n * k));
  for (int8_t& v : x) v = int8_t(random.next() >> 24);
  for (int8_t& v : w) v = int8_t(random.next() >> 24);
  std::vector<float> x_scale(per_row ? size_t(m) : 1), w_scale(per_column ? size_t(n) : 1);
  for (float& v : x_scale) v = 1 + random.uniform() / 2;
  for (float& v : w_scale) v = 1 + random.uniform() / 2;
  const DeviceArray<int8_t> device_x(x), device_w(w);
  const DeviceArray<float> device_x_scale(x_scale), device_w_scale(w_scale), y(size_t(m * n));
  const GemmParams p{device_x.get(), device_w.get(), device_x_scale.get(), device_w_scale.get(), y.get(), m, n, k, per_row, per_column};
  const double seconds = seconds_of([&](cudaStream_t stream) {
    if (smooth_quant_gemm_cuda(p, stream)) std::exit(1);
  });
  const std::vector<float> got = y.read();
  int64_t wrong = 0;
  const int64_t step = m * n > 100000 ? n / 7 + 1 : 1;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = i % step; j < n; j += step) {
      int32_t sum = 0;
      for (int64_t c = 0; c < k; ++c) sum += int32_t{x[size_t(i * k + c)]} * w[size_t(j * k + c)];
      wrong += got[size_t(i * n + j)] != float(sum) * (x_scale[per_row ? size_t(i) : 0] * w_scale[per_column ? size_t(j) : 0]);
    }
  std::printf("%s  smooth_quant_gemm [%lld, %lld] x [%lld, %lld], scales %s x %s: %.1f us, %.1f TOP/s, weights at %.0f GB/s\n",
              wrong ? "FAIL" : "pass", (long long)m, (long long)k, (long long)n, (long long)k, per_row ? "per token" : "per tensor",
              per_column ? "per channel" : "per tensor", seconds * 1e6, 2e-12 * double(m) * double(n) * double(k) / seconds,
              double(n * k) / seconds * 1e-9);
  return !wrong;
}

}  // namespace

int main() {
  need_gpu();
  bool passed = true;
  for (const bool per_row : {true, false})
    for (const bool per_column : {true, false}) {
      passed &= check(1, 5, 16, per_row, per_column);
      passed &= check(3, 130, 48, per_row, per_column);
      passed &= check(7, 33, 19, per_row, per_column);  // k that is no multiple of 16
      passed &= check(17, 129, 80, per_row, per_column);
      passed &= check(300, 257, 4112, per_row, per_column);
    }
  for (const int64_t m : {1, 4, 8, 16}) passed &= check(m, 14336, 4096, true, true);
  for (const int64_t m : {64, 256, 1024, 4096, 8192}) passed &= check(m, 4096, 4096, true, true);
  passed &= check(4096, 14336, 4096, true, true);
  return passed ? 0 : 1;
}
