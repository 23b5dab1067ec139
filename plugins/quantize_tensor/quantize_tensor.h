// What the CPU's and the GPU's kernels of quantize_tensor have in common.
#pragma once

#include <cstdint>

// x is (rows, n) of one of three types; q is (rows, n) int8, scales (rows) float32, or (1) when one scale serves all.
enum class FloatType { kF32, kF16, kBF16 };
struct QuantizeParams {
  const void* x;
  FloatType type;
  int8_t* q;
  float* scales;
  int64_t rows, n;
};

// quantize_tensor.cu. Both enqueue on `stream`, a CUstream, and return a cudaError_t. `workspace`: 4 bytes, for one scale.
int quantize_per_token_cuda(const QuantizeParams& params, void* stream);
int quantize_per_tensor_cuda(const QuantizeParams& params, void* workspace, void* stream);
const char* cuda_error_text(int error);
