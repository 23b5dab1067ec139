#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "quantize_tensor.h"

namespace {

constexpr int kThreads = 256;

// 16 bytes of a row as floats.
template <typename T>
struct Pack {
  static constexpr int kCount = 16 / sizeof(T);
  alignas(16) T values[kCount];
  __device__ float operator[](int i) const { return float(values[i]); }
};

// NaN is larger than everything, as the bits of what is not negative have it.
__device__ float larger(float a, float b) { return __uint_as_float(max(__float_as_uint(a), __float_as_uint(b))); }
// |x|, NaN also for infinity.
__device__ float magnitude(float x) { return fabsf(x + x * 0); }

__device__ float max_of_block(float x) {
  __shared__ float of_warp[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) x = larger(x, __shfl_xor_sync(~0u, x, step));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  x = of_warp[threadIdx.x % (kThreads / 32)];
  for (int step = kThreads / 64; step > 0; step /= 2) x = larger(x, __shfl_xor_sync(~0u, x, step));
  __syncthreads();  // of_warp may be written again
  return x;
}

__device__ int8_t quantized(float x, float inverse) { return int8_t(__float2int_rn(fminf(fmaxf(x * inverse, -127.f), 127.f))); }
__device__ float scale_of(float largest) { return largest == 0 ? 1 : largest / 127; }

template <typename T>
__device__ float largest_of_row(const T* x, int64_t n) {
  constexpr int kCount = Pack<T>::kCount;
  float most = 0;
  if (n % kCount == 0) {
    for (int64_t i = threadIdx.x * kCount; i < n; i += kThreads * kCount) {
      const auto pack = *reinterpret_cast<const Pack<T>*>(x + i);
#pragma unroll
      for (int k = 0; k < kCount; ++k) most = larger(most, magnitude(pack[k]));
    }
  } else {
    for (int64_t i = threadIdx.x; i < n; i += kThreads) most = larger(most, magnitude(float(x[i])));
  }
  return max_of_block(most);
}

template <typename T>
__device__ void quantize_row(const T* x, int8_t* q, int64_t n, float scale) {
  constexpr int kCount = Pack<T>::kCount;
  const float inverse = 1 / scale;
  if (n % kCount == 0) {
    for (int64_t i = threadIdx.x * kCount; i < n; i += kThreads * kCount) {
      const auto pack = *reinterpret_cast<const Pack<T>*>(x + i);
      alignas(kCount) int8_t results[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k) results[k] = quantized(pack[k], inverse);
      if constexpr (kCount == 8) *reinterpret_cast<uint2*>(q + i) = *reinterpret_cast<const uint2*>(results);
      else *reinterpret_cast<uint32_t*>(q + i) = *reinterpret_cast<const uint32_t*>(results);
    }
  } else {
    for (int64_t i = threadIdx.x; i < n; i += kThreads) q[i] = quantized(float(x[i]), inverse);
  }
}

// One block per row, which is read twice: the second time from the cache. Rows and row starts are 16-byte aligned when n is a multiple of
// the pack.
template <typename T>
__global__ void __launch_bounds__(kThreads) quantize_row_per_block(const T* x, int8_t* q, float* scales, int64_t n) {
  const int64_t row = blockIdx.x;
  const float scale = scale_of(largest_of_row(x + row * n, n));
  if (threadIdx.x == 0) scales[row] = scale;
  quantize_row(x + row * n, q + row * n, n, scale);
}

// The largest of all rows, as bits: of floats that are not negative, the order is that of their bits.
template <typename T>
__global__ void __launch_bounds__(kThreads) largest_of_all(const T* x, unsigned* most, int64_t n) {
  const float of_row = largest_of_row(x + blockIdx.x * n, n);
  if (threadIdx.x == 0) atomicMax(most, __float_as_uint(of_row));
}
template <typename T>
__global__ void __launch_bounds__(kThreads) quantize_all(const T* x, int8_t* q, float* scales, const unsigned* most, int64_t n) {
  const float scale = scale_of(__uint_as_float(*most));
  if (blockIdx.x == 0 && threadIdx.x == 0) scales[0] = scale;
  quantize_row(x + blockIdx.x * n, q + blockIdx.x * n, n, scale);
}

template <typename Body>
int dispatch(const QuantizeParams& p, Body&& body) {
  if (p.type == FloatType::kF32) body(static_cast<const float*>(p.x));
  else if (p.type == FloatType::kF16) body(static_cast<const __half*>(p.x));
  else body(static_cast<const __nv_bfloat16*>(p.x));
  return cudaGetLastError();
}

}  // namespace

int quantize_per_token_cuda(const QuantizeParams& p, void* stream) {
  if (p.rows == 0) return 0;
  return dispatch(
      p, [&](const auto* x) { quantize_row_per_block<<<unsigned(p.rows), kThreads, 0, cudaStream_t(stream)>>>(x, p.q, p.scales, p.n); });
}

int quantize_per_tensor_cuda(const QuantizeParams& p, void* workspace, void* stream) {
  const cudaStream_t s = cudaStream_t(stream);
  if (const cudaError_t error = cudaMemsetAsync(workspace, 0, sizeof(unsigned), s)) return error;
  unsigned* most = static_cast<unsigned*>(workspace);
  const unsigned blocks = p.rows ? unsigned(p.rows) : 1;
  const int64_t n = p.rows ? p.n : 0;
  return dispatch(p, [&](const auto* x) {
    largest_of_all<<<blocks, kThreads, 0, s>>>(x, most, n);
    quantize_all<<<blocks, kThreads, 0, s>>>(x, p.q, p.scales, most, n);
  });
}

const char* cuda_error_text(int error) { return cudaGetErrorString(cudaError_t(error)); }
