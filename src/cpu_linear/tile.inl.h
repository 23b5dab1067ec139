// The inner kernels: a tile of kRows rows of activations times kPanels panels, sums in registers from the first k to the last.
// Included inside a namespace, after lanes_ISA.inl.h. Layouts: panel.h.

template <int kRows, int kPanels>
struct Tile {
  Lanes sum[kPanels][kRows];

  [[gnu::always_inline]] explicit Tile(const float* out) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p)
#pragma GCC unroll 16
      for (int t = 0; t < kRows; ++t) sum[p][t] = load_lanes(out + (p * kRows + t) * kPanelRows);
  }
  [[gnu::always_inline]] void store(float* out) const {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p)
#pragma GCC unroll 16
      for (int t = 0; t < kRows; ++t) store_lanes(out + (p * kRows + t) * kPanelRows, sum[p][t]);
  }
  // One k: weights w, one per panel, times the kRows floats at x.
  [[gnu::always_inline]] void add_products(const Lanes* w, const std::byte* x) {
#pragma GCC unroll 16
    for (int t = 0; t < kRows; ++t) {
      const Lanes b = broadcast_lanes(x + t * 4);
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) sum[p][t] = fma(w[p], b, sum[p][t]);
    }
  }
};

// Asks for the cache lines of the blocks that lie ahead of those at w.
template <int kBytes, int kPanels>
[[gnu::always_inline]] inline void prefetch_ahead(const std::byte* const (&w)[kPanels], int64_t ahead) {
  for (int p = 0; p < kPanels; ++p)
    for (int i = 0; i < kBytes; i += 64) __builtin_prefetch(w[p] + ahead + i, 0, 2);
}

// fp32 and fp16 weights.
template <PanelKind kKind, int kRows, int kPanels>
void float_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, float* out) {
  constexpr int kBytes = format_of(kKind).block_bytes;
  Tile<kRows, kPanels> tile(out);
  const std::byte* w[kPanels];
  for (int p = 0; p < kPanels; ++p) w[p] = panels[p];
  for (int64_t i = 0; i < num_blocks; ++i, x += kRows * 4) {
    if (ahead != 0) prefetch_ahead<kBytes>(w, ahead);
    Lanes weights[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      weights[p] = kKind == PanelKind::kF32 ? load_f32_lanes(w[p]) : load_f16_lanes(w[p]);
      w[p] += kBytes;
    }
    tile.add_products(weights, x);
  }
  tile.store(out);
}

// Bytes of a row's activations for two k.
constexpr int pair_bytes(PanelKind kind) { return kind == PanelKind::kBF16Dot ? 4 : 8; }

// Two k of bfloat16 weights: widened and multiplied one by one, or as a dot product of pairs.
template <PanelKind kKind, int kRows, int kPanels>
[[gnu::always_inline]] inline void add_pairs(Tile<kRows, kPanels>& tile, const Quads (&pairs)[kPanels], const std::byte* x) {
  if constexpr (kKind == PanelKind::kBF16Dot) {
#pragma GCC unroll 16
    for (int t = 0; t < kRows; ++t) {
      const Quads b = broadcast_quad(x + t * 4);
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) tile.sum[p][t] = dot_bf16(tile.sum[p][t], pairs[p], b);
    }
  } else {
    Lanes weights[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) weights[p] = even_bf16(pairs[p]);
    tile.add_products(weights, x);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) weights[p] = odd_bf16(pairs[p]);
    tile.add_products(weights, x + kRows * 4);
  }
}

template <PanelKind kKind, int kRows, int kPanels>
void bf16_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, float* out) {
  Tile<kRows, kPanels> tile(out);
  const std::byte* w[kPanels];
  for (int p = 0; p < kPanels; ++p) w[p] = panels[p];
  for (int64_t i = 0; i < num_blocks; ++i, x += kRows * pair_bytes(kKind)) {
    if (ahead != 0) prefetch_ahead<64>(w, ahead);
    Quads pairs[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      pairs[p] = load_quads(w[p]);
      w[p] += 64;
    }
    add_pairs<kKind>(tile, pairs, x);
  }
  tile.store(out);
}

// The same for coded panels, decoded in registers: memory is read without a pause. bf16_code.h has the layout.
template <PanelKind kKind, int kRows, int kPanels>
void coded_bf16_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, float* out) {
  Tile<kRows, kPanels> tile(out);
  const std::byte* w[kPanels];
  const uint8_t* high_bytes[kPanels];
  const Bf16Exception* exception[kPanels];  // the next one
  for (int p = 0; p < kPanels; ++p) {
    const CodedBf16Header& header = *reinterpret_cast<const CodedBf16Header*>(panels[p]);
    w[p] = panels[p] + sizeof(header);
    high_bytes[p] = header.high_bytes;
    exception[p] = reinterpret_cast<const Bf16Exception*>(panels[p] + header.exceptions_at);
    __builtin_prefetch(panels[p] + ahead);
    __builtin_prefetch(panels[p] + ahead + header.exceptions_at);
  }
  for (uint32_t word = 0; num_blocks > 0; num_blocks -= 4, word += kRawGroupBytes / 2) {
    prefetch_ahead<kCodedGroupBytes>(w, ahead);
    Quads vectors[4][kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const Quads indices = load_quads(w[p] + 128), low0 = load_quads(w[p]), low1 = load_quads(w[p] + 64);
      const Quads high0 = look_up(low_halves(indices), high_bytes[p]), high1 = look_up(high_halves(indices), high_bytes[p]);
      vectors[0][p] = interleave_low(low0, high0);
      vectors[1][p] = interleave_high(low0, high0);
      vectors[2][p] = interleave_low(low1, high1);
      vectors[3][p] = interleave_high(low1, high1);
      if (exception[p]->word - word < kRawGroupBytes / 2) [[unlikely]] {
        alignas(64) std::byte raw[kRawGroupBytes];
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) store_quads(raw + 64 * v, vectors[v][p]);
        exception[p] = put_exceptions(exception[p], word, kRawGroupBytes / 2, raw);
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) vectors[v][p] = load_quads(raw + 64 * v);
      }
      w[p] += kCodedGroupBytes;
    }
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      if (v >= num_blocks) break;
      add_pairs<kKind>(tile, vectors[v], x);
      x += kRows * pair_bytes(kKind);
    }
  }
  tile.store(out);
}

// Quads 2j and 2j + 1 of a block, as unsigned bytes, or signed where 8 bits are.
template <PanelKind kKind, int j>
[[gnu::always_inline]] inline void unpack(const std::byte* block, Quads& even, Quads& odd) {
  constexpr int kBits = format_of(kKind).bits;
  if constexpr (kBits == 8) {
    even = load_eight_bits(block + 128 * j);
    odd = load_eight_bits(block + 128 * j + 64);
  } else {
    const Quads both = load_quads(block + 64 * j);
    even = low_halves(both);
    odd = high_halves(both);
  }
  if constexpr (kKind == PanelKind::kQ4Table) {
    even = look_up_iq4(even);
    odd = look_up_iq4(odd);
  }
  if constexpr (kBits == 5) {
    even = with_fifth_bits(even, block + 256 + 16 * j);
    odd = with_fifth_bits(odd, block + 256 + 16 * j + 8);
  }
  if constexpr (kBits == 6) {
    const Quads pairs = load_quads(block + 256 + 64 * (j / 2));
    even = with_upper_pair<j % 2 * 2>(even, pairs);
    odd = with_upper_pair<j % 2 * 2 + 1>(odd, pairs);
  }
}

// Adds quads 2j and 2j + 1 to the integer sums; x: the block's activations.
template <PanelKind kKind, int kRows, int kPanels, int j, typename Dots>
[[gnu::always_inline]] inline void add_quads(const std::byte* const* w, const std::byte* x, Dots (&dots)[kPanels][kRows]) {
  Quads even[kPanels], odd[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) unpack<kKind, j>(w[p], even[p], odd[p]);
#pragma GCC unroll 16
  for (int t = 0; t < kRows; ++t) {
    const Quads b = broadcast_quad(x + (2 * j * kRows + t) * 4);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) dots[p][t].template add<2 * j>(even[p], b);
  }
#pragma GCC unroll 16
  for (int t = 0; t < kRows; ++t) {
    const Quads b = broadcast_quad(x + ((2 * j + 1) * kRows + t) * 4);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) dots[p][t].template add<2 * j + 1>(odd[p], b);
  }
}

// Bits of the bytes that unpack returns.
constexpr int unpacked_bits(PanelKind kind) { return kind == PanelKind::kQ4Table ? 8 : format_of(kind).bits; }

// One group of k that shares scales: integer dot products, then their scaled sum onto the tile.
template <PanelKind kKind, int kRows, int kPanels, int group>
[[gnu::always_inline]] inline void add_group(const std::byte* const* w, const std::byte* x, Tile<kRows, kPanels>& tile) {
  constexpr PanelFormat kFormat = format_of(kKind);
  constexpr bool kOffset = !kFormat.affine && !(kEightBitsAreSigned && unpacked_bits(kKind) == 8);
  const std::byte* const scales = x + 32 * kRows;
  const std::byte* const minus_sums = scales + 4 * kRows;
  Sums minus[kRows];
  IntegerDots<unpacked_bits(kKind), 8 / kFormat.groups> dots[kPanels][kRows];
#pragma GCC unroll 16
  for (int t = 0; t < kRows; ++t) {
    if constexpr (kOffset || kFormat.affine) {
      minus[t] = broadcast_sum(minus_sums + (group * kRows + t) * 4);
      if constexpr (kFormat.groups == 1) minus[t] = add(minus[t], broadcast_sum(minus_sums + (kRows + t) * 4));
    }
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      if constexpr (kOffset) dots[p][t].sums = shift_left<kFormat.offset_log2>(minus[t]);
      else dots[p][t].sums = no_sums();
    }
  }
  if constexpr (kFormat.groups == 1) {
    add_quads<kKind, kRows, kPanels, 0>(w, x, dots);
    add_quads<kKind, kRows, kPanels, 1>(w, x, dots);
    add_quads<kKind, kRows, kPanels, 2>(w, x, dots);
    add_quads<kKind, kRows, kPanels, 3>(w, x, dots);
  } else {
    add_quads<kKind, kRows, kPanels, 2 * group>(w, x, dots);
    add_quads<kKind, kRows, kPanels, 2 * group + 1>(w, x, dots);
  }
  Lanes scale[kPanels], minimum[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
    const std::byte* at = w[p] + 64 * kFormat.bits + 32 * group;
    scale[p] = load_f16_lanes(at);
    if constexpr (kFormat.affine) minimum[p] = load_f16_lanes(at + 32 * kFormat.groups);
  }
#pragma GCC unroll 16
  for (int t = 0; t < kRows; ++t) {
    const Lanes b = broadcast_lanes(scales + t * 4);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      tile.sum[p][t] = fma(to_lanes(dots[p][t].sums), mul(scale[p], b), tile.sum[p][t]);
      if constexpr (kFormat.affine) tile.sum[p][t] = fma_minus(minimum[p], mul(to_lanes(minus[t]), b), tile.sum[p][t]);
    }
  }
}

template <PanelKind kKind, int kRows, int kPanels>
void integer_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, float* out) {
  constexpr PanelFormat kFormat = format_of(kKind);
  Tile<kRows, kPanels> tile(out);
  const std::byte* w[kPanels];
  for (int p = 0; p < kPanels; ++p) w[p] = panels[p];
  for (int64_t i = 0; i < num_blocks; ++i) {
    if (ahead != 0) prefetch_ahead<kFormat.block_bytes>(w, ahead);
    add_group<kKind, kRows, kPanels, 0>(w, x, tile);
    if constexpr (kFormat.groups == 2) add_group<kKind, kRows, kPanels, 1>(w, x, tile);
    x += 44 * kRows;
    for (int p = 0; p < kPanels; ++p) w[p] += kFormat.block_bytes;
  }
  tile.store(out);
}
