// What the CPU's and the GPU's kernels of smooth_quant_gemm have in common.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

// y[i][j] = x_scale[i] * w_scale[j] * sum over k of x[i][k] * w[j][k], the sum in int32.
struct GemmParams {
  const int8_t *x, *w;             // (m, k), (n, k)
  const float *x_scale, *w_scale;  // (m) or (1), (n) or (1)
  float* y;                        // (m, n)
  int64_t m, n, k;
  bool scale_per_row, scale_per_column;  // else one scale serves all

  ON_BOTH float scale_of_row(int64_t i) const { return x_scale[scale_per_row ? i : 0]; }
  ON_BOTH float scale_of_column(int64_t j) const { return w_scale[scale_per_column ? j : 0]; }
};

// smooth_quant.cu. Enqueues on `stream`, a CUstream, and returns a cudaError_t.
int smooth_quant_gemm_cuda(const GemmParams& params, void* stream);
const char* cuda_error_text(int error);

// cpu_gemm.cpp. This thread's share of the columns [begin, end).
void gemm_by_dots(const GemmParams& params, int64_t begin, int64_t end);

// Weights in panels of 32 columns, for AVX-512 VNNI: byte [panel][k / 4][column][k % 4] is w + 128. k is a multiple of 4.
bool has_vnni();
inline constexpr int kPanel = 32;
inline int64_t num_panels(int64_t n) { return (n + kPanel - 1) / kPanel; }
void pack_panels(const int8_t* w, int64_t n, int64_t k, uint8_t* packed);
// Panels [begin, end). row_sums: of x, (m).
void gemm_by_panels(const GemmParams& params, const uint8_t* packed, const int32_t* row_sums, int64_t begin, int64_t end);
