// The kernels of one instruction set: a table of functions that the driver (fused_linear.cpp) calls.
#pragma once

#include <cstddef>

#include "cpu_linear/panel.h"
#include "device/cpu/cpu_features.h"

namespace headrace {

inline constexpr int kMaxTileRows = 12;

// out[panel][row][16] += a tile of activations times panels, each `num_blocks` blocks long. Every element is summed in the order
// of k by one chain of additions, so it depends on neither the tile's rows nor its panels.
using TileFunction = void (*)(const std::byte* const* panels, const std::byte* activations, int64_t num_blocks, float* out);

enum class NormKind { kNone, kRms, kLayer };
enum class LinearActivation { kNone, kSilu, kGeluTanh, kGeluErf, kRelu };

// A row's way into a tile: x is normalized, converted to a form and written to slot `row` of `tile_rows`.
struct PrepareArgs {
  const float* x;
  int64_t k;
  NormKind norm;
  const float* norm_weight;  // (k)
  const float* norm_bias;    // (k) or null
  float eps;
  float* normalized;         // scratch (k)
  std::byte* tile;
  int tile_rows, row;
};

// One row's 16 results (or fewer) on their way out: y = act(a + bias) + residual, or act(a + bias) * (b + bias_b) + residual.
struct FinishArgs {
  const float* a;
  const float* b;  // null unless gated
  const float* bias;
  const float* bias_b;
  const float* residual;
  float* y;
  int count;
  LinearActivation activation;
};

struct KernelTable {
  int tile_rows[kNumPanelKinds];                            // the largest tile of a kind
  int panels[kNumPanelKinds][kMaxTileRows + 1];             // how many panels `tile` takes, by rows: 1, 2 or 4
  TileFunction tile[kNumPanelKinds][kMaxTileRows + 1];      // by rows, from 1
  TileFunction tile_one[kNumPanelKinds][kMaxTileRows + 1];  // the same for a single panel
  void (*prepare[3])(const PrepareArgs&);                   // by ActivationKind
  void (*finish)(const FinishArgs&);
};

const KernelTable& kernel_table(CpuIsa isa);

}  // namespace headrace
