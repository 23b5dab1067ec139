// int8 by int8 on tensor cores (mma.sync m16n8k32, sm_80 and later), or with dp4a where there are few rows.
#include <cuda_runtime.h>

#include "smooth_quant.h"

namespace {

// ---------------------------------------------------------------------------------------------------------------- many rows

constexpr int kRows = 128, kColumns = 128, kDepth = 64;  // of a block's tile; depth in bytes
constexpr int kStages = 4;
constexpr int kThreads = 256;  // eight warps, two by four: 64 rows by 32 columns each
constexpr int kTileBytes = kRows * kDepth;
constexpr int kSharedBytes = kStages * 2 * kTileBytes;
static_assert(kRows == kColumns, "one function copies either operand's tile");

// Where 16 bytes of a tile stand in shared memory: moved so that eight rows, as ldmatrix reads them, touch every bank once.
__device__ int place(int row, int chunk) { return row * kDepth + ((chunk ^ (row >> 1 & 3)) << 4); }

__device__ unsigned address(const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); }

// Rows [first, first + 128) and bytes [at, at + 64) of `from` (rows, k), zeros beyond the end.
__device__ void copy_tile(int8_t* to, const int8_t* from, int64_t first, int64_t rows, int64_t at, int64_t k) {
#pragma unroll
  for (int piece = threadIdx.x; piece < kTileBytes / 16; piece += kThreads) {
    const int row = piece / 4, chunk = piece % 4;
    const bool inside = first + row < rows && at + chunk * 16 < k;
    const int8_t* source = inside ? from + (first + row) * k + at + chunk * 16 : from;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address(to + place(row, chunk))), "l"(source), "r"(inside ? 16 : 0));
  }
}

__device__ void load_matrices(unsigned (&r)[4], const int8_t* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address(at)));
}

__device__ void multiply(int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(kThreads) gemm_tensor_cores(GemmParams p) {
  extern __shared__ __align__(128) int8_t shared[];
  const int64_t row0 = int64_t(blockIdx.y) * kRows, column0 = int64_t(blockIdx.x) * kColumns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const int steps = int((p.k + kDepth - 1) / kDepth);
  const auto copy = [&](int step) {
    if (step < steps) {
      int8_t* stage = shared + step % kStages * 2 * kTileBytes;
      copy_tile(stage, p.x, row0, p.m, int64_t(step) * kDepth, p.k);
      copy_tile(stage + kTileBytes, p.w, column0, p.n, int64_t(step) * kDepth, p.k);
    }
    asm volatile("cp.async.commit_group;");
  };
  for (int step = 0; step < kStages - 1; ++step) copy(step);

  int sums[4][4][4] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();
    copy(step + kStages - 1);
    const int8_t* x = shared + step % kStages * 2 * kTileBytes;
    const int8_t* w = x + kTileBytes;
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // 32 bytes of k each
      unsigned a[4][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) load_matrices(a[i], x + place(warp_row + i * 16 + lane % 16, half * 2 + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; ++j) load_matrices(b[j], w + place(warp_column + j * 16 + lane / 16 * 8 + lane % 8, half * 2 + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }

#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t row = row0 + warp_row + i * 16 + half * 8 + lane / 4;
      if (row >= p.m) continue;
      const float scale = p.scale_of_row(row);
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int64_t column = column0 + warp_column + j * 8 + lane % 4 * 2 + c;
          if (column < p.n) p.y[row * p.n + column] = float(sums[i][j][half * 2 + c]) * (scale * p.scale_of_column(column));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------- few rows

// A warp for each column, whose weights are read once for all M rows from `row` on.
template <int M>
__global__ void __launch_bounds__(kThreads) gemv_warp_per_column(GemmParams p, int64_t row) {
  const int64_t column = int64_t(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (column >= p.n) return;
  int sums[M] = {};
  for (int64_t i = threadIdx.x % 32 * 16; i < p.k; i += 512) {
    const int4 w = __ldg(reinterpret_cast<const int4*>(p.w + column * p.k + i));
#pragma unroll
    for (int r = 0; r < M; ++r) {
      const int4 x = __ldg(reinterpret_cast<const int4*>(p.x + (row + r) * p.k + i));
      sums[r] = __dp4a(x.x, w.x, __dp4a(x.y, w.y, __dp4a(x.z, w.z, __dp4a(x.w, w.w, sums[r]))));
    }
  }
#pragma unroll
  for (int r = 0; r < M; ++r) {
    for (int step = 16; step > 0; step /= 2) sums[r] += __shfl_xor_sync(~0u, sums[r], step);
    if (threadIdx.x % 32 == 0) p.y[(row + r) * p.n + column] = float(sums[r]) * (p.scale_of_row(row + r) * p.scale_of_column(column));
  }
}

// Any k, a thread for each result: slow, and seldom wanted.
__global__ void __launch_bounds__(kThreads) gemm_thread_per_result(GemmParams p) {
  const int64_t at = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= p.m * p.n) return;
  const int64_t row = at / p.n, column = at % p.n;
  int sum = 0;
  for (int64_t i = 0; i < p.k; ++i) sum += int(p.x[row * p.k + i]) * p.w[column * p.k + i];
  p.y[at] = float(sum) * (p.scale_of_row(row) * p.scale_of_column(column));
}

}  // namespace

int smooth_quant_gemm_cuda(const GemmParams& p, void* stream) {
  if (p.m == 0 || p.n == 0) return 0;
  const cudaStream_t s = cudaStream_t(stream);
  constexpr int64_t kFewRows = 16;
  if (p.k % 16 != 0) {
    gemm_thread_per_result<<<unsigned((p.m * p.n + kThreads - 1) / kThreads), kThreads, 0, s>>>(p);
  } else if (p.m > kFewRows) {
    if (const cudaError_t error = cudaFuncSetAttribute(gemm_tensor_cores, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes))
      return error;
    const dim3 blocks(unsigned((p.n + kColumns - 1) / kColumns), unsigned((p.m + kRows - 1) / kRows));
    gemm_tensor_cores<<<blocks, kThreads, kSharedBytes, s>>>(p);
  } else {
    const unsigned blocks = unsigned((p.n + kThreads / 32 - 1) / (kThreads / 32));
    int64_t row = 0;
    for (; row + 8 <= p.m; row += 8) gemv_warp_per_column<8><<<blocks, kThreads, 0, s>>>(p, row);
    if (row + 4 <= p.m) gemv_warp_per_column<4><<<blocks, kThreads, 0, s>>>(p, row), row += 4;
    if (row + 2 <= p.m) gemv_warp_per_column<2><<<blocks, kThreads, 0, s>>>(p, row), row += 2;
    if (row < p.m) gemv_warp_per_column<1><<<blocks, kThreads, 0, s>>>(p, row);
  }
  return cudaGetLastError();
}

const char* cuda_error_text(int error) { return cudaGetErrorString(cudaError_t(error)); }
