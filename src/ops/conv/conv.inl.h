// Convolution as a product of matrices whose right side, the windows' elements, is packed tile by tile and never whole. Included by
// ops/each_isa.inl.h.
#include "ops/matmul/matmul_tile.inl.h"

// to[i] = element (channel, h, w of place i) for `places` places in one row of the result, for one element of the window; zeros in padding.
// Writes zeros up to a vector further, which is quicker than stopping.
// from: the channel's row that this element of the window is in; left: its column at the first place.
inline void conv_copy_row(const ConvPanel& p, const float* from, int64_t left, int64_t places, float* to) {
  const int64_t stride = p.windows[1].stride, step = stride * p.x_column;
  const auto places_before = [&](int64_t column) {  // how many places are left of a column
    const int64_t distance = column - left;
    return distance <= 0 ? 0 : stride == 1 ? distance : (distance + stride - 1) / stride;
  };
  const int64_t begin = places_before(0), beyond = places_before(p.width), end = beyond < places ? beyond : places;
  const float* x = from + left * p.x_column;
  if (step == 1) {
    for (int64_t i = begin; i < end; i += F32::kLanes) store(to + i, load_some(x + i, lanes_of(end - i)));
  } else {
    for (int64_t i = begin; i < end; ++i) to[i] = x[i * step];
  }
}

// Elements [begin, begin + depth) of the windows at the panel's places, to rows of kTileColumns.
inline void conv_pack(const ConvPanel& p, int64_t begin, int64_t depth, float* packed) {
  const int64_t of_channel = p.windows[0].size * p.windows[1].size;
  int64_t channel = begin / of_channel, ky = begin % of_channel / p.windows[1].size, kx = begin % p.windows[1].size;
  for (int64_t i = 0; i < depth; ++i, packed += kTileColumns) {
    store(packed, zero());
    store(packed + F32::kLanes, zero());
    int64_t row = p.first_place / p.out_width, column = p.first_place % p.out_width;
    for (int64_t at = 0; at < p.places; ++row, column = 0) {
      const int64_t in_row = p.out_width - column, n = in_row < p.places - at ? in_row : p.places - at;
      const int64_t h = p.windows[0].begin(row) + ky * p.windows[0].dilation;
      if (h >= 0 && h < p.height)
        conv_copy_row(p, p.x + channel * p.x_channel + h * p.x_row, p.windows[1].begin(column) + kx * p.windows[1].dilation, n,
                      packed + at);
      at += n;
    }
    if (++kx < p.windows[1].size) continue;
    kx = 0;
    if (++ky < p.windows[0].size) continue;
    ky = 0, ++channel;
  }
}

template <int kRows>
inline void conv_tile(const ConvPanel& p, int64_t output, int64_t begin, int64_t depth, const float* packed) {
  const float* weight = p.weight + output * (1 + p.k) + (1 + begin) * kConvRows;
  matmul_tile<kRows>(weight, 1, kConvRows, packed, depth, p.y + output * p.y_output, p.y_output, p.places, true);
}

inline void conv_panel(const ConvPanel& p) {
  alignas(64) float packed[kConvDepth * kTileColumns + F32::kLanes];
  for (int64_t o = 0; o < p.outputs; ++o) {
    const F32 bias = broadcast(p.weight[o / kConvRows * kConvRows * (1 + p.k) + o % kConvRows]);
    for (int64_t i = 0; i < p.places; i += F32::kLanes) store_some(p.y + o * p.y_output + i, bias, lanes_of(p.places - i));
  }
  for (int64_t begin = 0; begin < p.k; begin += kConvDepth) {
    const int64_t depth = p.k - begin < kConvDepth ? p.k - begin : kConvDepth;
    conv_pack(p, begin, depth, packed);
    for (int64_t o = 0; o < p.outputs; o += kConvRows) {
      switch (p.outputs - o) {
        case 1: conv_tile<1>(p, o, begin, depth, packed); break;
        case 2: conv_tile<2>(p, o, begin, depth, packed); break;
        case 3: conv_tile<3>(p, o, begin, depth, packed); break;
        case 4: conv_tile<4>(p, o, begin, depth, packed); break;
        case 5: conv_tile<5>(p, o, begin, depth, packed); break;
        default: conv_tile<kConvRows>(p, o, begin, depth, packed);
      }
    }
  }
}

inline int64_t conv_panel_places() { return kTileColumns; }
