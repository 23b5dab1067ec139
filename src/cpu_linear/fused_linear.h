// y = finish(prepare(x) W^T): one parallel region for a normalization, one or several matrices, bias, activation and residual.
#pragma once

#include <span>
#include <vector>

#include "core/thread_pool.h"
#include "cpu_linear/kernel_table.h"
#include "cpu_linear/packed_matrix.h"

namespace headrace {

struct LinearNorm {
  NormKind kind = NormKind::kNone;
  const float* weight = nullptr;  // (k)
  const float* bias = nullptr;    // (k), of kLayer; may be null
  float eps = 0;
};

enum class Combine {
  kConcatenate,  // outputs side by side: merged q, k, v
  kGated,        // two matrices, gate and up: y = activation(gate) * up
};

// What a linear is; built once. The matrices, of equal k and one CpuIsa, outlive it. Biases are (n) each; none, or one per matrix
// (null where it has none).
struct LinearSpec {
  std::vector<const PackedMatrix*> weights;
  std::vector<const float*> biases;
  Combine combine = Combine::kConcatenate;
  LinearActivation activation = LinearActivation::kNone;
  LinearNorm norm;

  int64_t k() const;
  int64_t n() const;  // columns of y
};

// One call: rows of fp32. y may be the residual, but not x.
struct LinearRows {
  const float* x;    // (rows, k)
  int64_t x_stride;  // elements between rows
  int64_t rows;
  float* y;  // (rows, n)
  int64_t y_stride;
  const float* residual = nullptr;  // (rows, n), added last
  int64_t residual_stride = 0;
};

// Checks what fused_linear takes for granted. Throws Error(kInvalidArgument).
void verify(const LinearSpec& spec);

// Scratch that fused_linear needs for up to max_rows rows. 64-byte aligned memory, not shared between calls that overlap.
int64_t workspace_bytes(const LinearSpec& spec, int64_t max_rows, int num_threads);

// Every thread of the team calls this with the same arguments. The caller's barrier follows before y is read or the workspace used
// again. A row's result depends on neither the other rows, nor their number, nor the threads, for one CpuIsa and Arithmetic.
void fused_linear(Team& team, const LinearSpec& spec, const LinearRows& rows, std::byte* workspace);

}  // namespace headrace
