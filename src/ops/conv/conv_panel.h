// One panel of a convolution: some outputs at a few neighbouring places.
#pragma once

#include "ops/window.h"

namespace headrace {

inline constexpr int64_t kConvDepth = 256;  // elements of windows that are packed at once: 32 KiB with the widest vectors
inline constexpr int kConvRows = 6;         // outputs in one tile of registers; weights are packed for as many

struct ConvPanel {
  const float* x;  // of one image and group: element (channel, h, w) is that many strides away
  int64_t x_channel, x_row, x_column;
  int64_t height, width;
  Windows windows;
  int64_t k;                    // elements of a window: channels of the group times the window's size
  int64_t out_width;            // place (h, w) has number h * out_width + w
  int64_t first_place, places;  // of the panel
  const float* weight;  // (tiles of kConvRows outputs, 1 + k, kConvRows): the bias, then the weight; zeros where outputs are missing
  float* y;             // output o at the first place is o * y_output away
  int64_t y_output, outputs;
};

}  // namespace headrace
