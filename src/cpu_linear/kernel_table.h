// The kernels of one instruction set: a table of functions that the driver (fused_linear.cpp) calls.
#pragma once

#include <cstddef>

#include "cpu_linear/panel.h"
#include "device/cpu/cpu_features.h"

namespace headrace {

inline constexpr int kMaxTileRows = 12;

// out[panel][row][16] = before + a tile of activations times panels, each `num_blocks` blocks long; `before` is null, for zeros, or laid
// out as `out`. Additions run in the order of k, so an element depends on neither the tile's rows nor its panels. Unless `ahead` is 0, the
// bytes that lie `ahead` of the panels' are prefetched.
using TileFunction = void (*)(const std::byte* const* panels, const std::byte* activations, int64_t num_blocks, int64_t ahead,
                              const float* before, float* out);

// The same from zeros, of coded panels, which are left decoded at `decoded` for the tiles that follow.
using DecodingTileFunction = void (*)(const std::byte* const* panels, const std::byte* activations, int64_t num_blocks,
                                      std::byte* const* decoded, float* out);

enum class NormKind { kNone, kRms, kLayer };
enum class LinearActivation { kNone, kSilu, kGeluTanh, kGeluErf, kRelu };

// Rows' way into a tile: each is normalized, converted to a form and laid out for broadcasting.
struct PrepareArgs {
  const float* x;  // (rows, k)
  int64_t x_stride, k;
  int rows;
  NormKind norm;
  const float* norm_weight;  // (k)
  const float* norm_bias;    // (k) or null
  float eps;
  std::byte* tile;
};

// A panel's results for the rows of a tile on their way out: y = act(a + bias) + residual, or, gated,
// y = act(a + bias) * (b + bias_b) + residual.
struct FinishArgs {
  const float* a;         // (rows, 16)
  const float* b;         // (rows, 16), null unless gated
  const float* bias;      // (columns) or null
  const float* bias_b;    // (columns) or null
  const float* residual;  // (rows, columns) or null
  float* y;               // (rows, columns)
  int64_t residual_stride, y_stride;
  int rows, columns;
  LinearActivation activation;
};

struct KernelTable {
  int tile_rows[kNumPanelKinds];                              // the largest tile of a kind
  TileFunction tile[kNumPanelKinds][kMaxTileRows + 1];        // by rows, from 1: one panel
  TileFunction tile_pair[kNumPanelKinds][kMaxTileRows + 1];   // two panels at once; null where registers are too few
  TileFunction coded_tile[kNumPanelKinds][kMaxTileRows + 1];  // of coded panels (bf16_code.h); null of kinds that have none
  TileFunction coded_tile_pair[kNumPanelKinds][kMaxTileRows + 1];
  DecodingTileFunction decoding_tile[kNumPanelKinds][kMaxTileRows + 1];
  DecodingTileFunction decoding_tile_pair[kNumPanelKinds][kMaxTileRows + 1];
  void (*prepare[kNumActivationKinds])(const PrepareArgs&);  // by ActivationKind
  void (*finish)(const FinishArgs&);
};

const KernelTable& kernel_table(CpuIsa isa);

}  // namespace headrace
