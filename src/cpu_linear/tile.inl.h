// The inner kernels: a tile of kRows rows of activations times kPanels panels, sums in registers from the first k to the last.
// Included inside a namespace, after lanes_ISA.inl.h. Layouts: panel.h.

// Lambdas with attributes are not understood.
// clang-format off

template <int kRows, int kPanels>
struct Tile {
  Lanes sum[kPanels][kRows];

  Tile() = default;
  // From sums that were stored, or from zero.
  [[gnu::always_inline]] explicit Tile(const float* before) {
    if (!before) {
      *this = zero();
      return;
    }
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p)
#pragma GCC unroll 16
      for (int t = 0; t < kRows; ++t) sum[p][t] = load_lanes(before + (p * kRows + t) * kPanelRows);
  }
  [[gnu::always_inline]] static Tile zero() {
    Tile tile;
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p)
#pragma GCC unroll 16
      for (int t = 0; t < kRows; ++t) tile.sum[p][t] = zero_lanes();
    return tile;
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

// Sums of 16-bit floats run in two chains, one over the even and one over the odd runs of kRunGroups groups of kGroupK k, which are
// added at the end: a single chain would be slower than memory, each addition waiting for the last. Where both fit the registers they
// take turns, else they run one after the other, with the same result. add_group(tile, group) adds a group's products to a chain.
inline constexpr int kGroupK = 8;
inline constexpr int kRunGroups = 8;

template <int kRows, int kPanels, typename AddGroup>
[[gnu::always_inline]] inline void add_in_two_chains(int64_t num_groups, const float* before, float* out, AddGroup&& add_group) {
  using Sums = Tile<kRows, kPanels>;
  const auto add_odd = [&](const Sums& odd) __attribute__((always_inline)) {
    Sums sum(out);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p)
#pragma GCC unroll 16
      for (int t = 0; t < kRows; ++t) sum.sum[p][t] = add(sum.sum[p][t], odd.sum[p][t]);
    sum.store(out);
  };
  const auto add_run = [&](Sums& sums, int64_t begin) __attribute__((always_inline)) {
    const int64_t end = begin + kRunGroups < num_groups ? begin + kRunGroups : num_groups;
    for (int64_t group = begin; group < end; ++group) add_group(sums, group);
  };
  if constexpr (kRows * kPanels <= kMostSumsInPairs) {
    Sums even(before), odd = Sums::zero();
    for (int64_t begin = 0; begin < num_groups; begin += 2 * kRunGroups) {
      add_run(even, begin);
      add_run(odd, begin + kRunGroups);
    }
    even.store(out);
    add_odd(odd);
  } else {
    Sums even(before);
    for (int64_t begin = 0; begin < num_groups; begin += 2 * kRunGroups) add_run(even, begin);
    even.store(out);
    Sums odd = Sums::zero();
    for (int64_t begin = kRunGroups; begin < num_groups; begin += 2 * kRunGroups) add_run(odd, begin);
    add_odd(odd);
  }
}

// Asks for the cache lines of the blocks that lie ahead of those at w.
template <int kBytes, int kPanels>
[[gnu::always_inline]] inline void prefetch_ahead(const std::byte* const (&w)[kPanels], int64_t ahead) {
  for (int p = 0; p < kPanels; ++p)
    for (int i = 0; i < kBytes; i += 64) __builtin_prefetch(w[p] + ahead + i, 0, 2);
}

template <int kRows, int kPanels>
void f32_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, const float* before, float* out) {
  constexpr int kBytes = format_of(PanelKind::kF32).block_bytes;
  Tile<kRows, kPanels> tile(before);
  const std::byte* w[kPanels];
  for (int p = 0; p < kPanels; ++p) w[p] = panels[p];
  for (int64_t i = 0; i < num_blocks; ++i, x += kRows * 4) {
    if (ahead != 0) prefetch_ahead<kBytes>(w, ahead);
    Lanes weights[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      weights[p] = load_f32_lanes(w[p]);
      w[p] += kBytes;
    }
    tile.add_products(weights, x);
  }
  tile.store(out);
}

template <int kRows, int kPanels>
void f16_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, const float* before, float* out) {
  constexpr int kBytes = format_of(PanelKind::kF16).block_bytes;
  add_in_two_chains<kRows, kPanels>((num_blocks + kGroupK - 1) / kGroupK, before, out, [&](Tile<kRows, kPanels>& tile, int64_t group) __attribute__((always_inline)) {
    const std::byte* w[kPanels];
    for (int p = 0; p < kPanels; ++p) w[p] = panels[p] + group * kGroupK * kBytes;
    if (ahead != 0) prefetch_ahead<kGroupK * kBytes>(w, ahead);
    const auto add_block = [&](int i) __attribute__((always_inline)) {
      Lanes weights[kPanels];
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) weights[p] = load_f16_lanes(w[p] + i * kBytes);
      tile.add_products(weights, x + (group * kGroupK + i) * kRows * 4);
    };
    const int64_t left = num_blocks - group * kGroupK;
    if (left >= kGroupK) {
#pragma GCC unroll 8
      for (int i = 0; i < kGroupK; ++i) add_block(i);
    } else {
      for (int i = 0; i < left; ++i) add_block(i);
    }
  });
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

// The groups of bfloat16 panels. vectors(group, pairs) gives their kGroupK / 2 vectors of pairs.
template <PanelKind kKind, int kRows, int kPanels, typename Vectors>
[[gnu::always_inline]] inline void add_bf16_groups(const std::byte* x, int64_t num_blocks, const float* before, float* out, Vectors&& vectors) {
  constexpr int kBlocks = kGroupK / 2;  // of a group
  add_in_two_chains<kRows, kPanels>((num_blocks + kBlocks - 1) / kBlocks, before, out, [&](Tile<kRows, kPanels>& tile, int64_t group) __attribute__((always_inline)) {
    Quads pairs[kPanels][kBlocks];
    vectors(group, pairs);
    const auto add_block = [&](int i) __attribute__((always_inline)) {
      Quads block[kPanels];
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) block[p] = pairs[p][i];
      add_pairs<kKind>(tile, block, x + (group * kBlocks + i) * kRows * pair_bytes(kKind));
    };
    const int64_t left = num_blocks - group * kBlocks;
    if (left >= kBlocks) {
#pragma GCC unroll 4
      for (int i = 0; i < kBlocks; ++i) add_block(i);
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < kBlocks; ++i)
        if (i < left) add_block(i);
    }
  });
}

template <PanelKind kKind, int kRows, int kPanels>
void bf16_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, const float* before, float* out) {
  constexpr int kBlocks = kGroupK / 2;
  add_bf16_groups<kKind, kRows, kPanels>(x, num_blocks, before, out, [&](int64_t group, Quads (&pairs)[kPanels][kBlocks]) __attribute__((always_inline)) {
    const std::byte* w[kPanels];
    for (int p = 0; p < kPanels; ++p) w[p] = panels[p] + group * kRawGroupBytes;
    if (ahead != 0) prefetch_ahead<kRawGroupBytes>(w, ahead);
    const int64_t left = num_blocks - group * kBlocks;
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p)
#pragma GCC unroll 4
      for (int i = 0; i < kBlocks; ++i) pairs[p][i] = load_quads(w[p] + (i < left ? i : 0) * 64);
  });
}

// Four vectors of pairs, of 8 k; exceptions not yet put in.
[[gnu::always_inline]] inline void decode_group(const std::byte* coded, const uint8_t* high_bytes, Quads (&pairs)[4]) {
  const Quads indices = load_quads(coded + 128), low0 = load_quads(coded), low1 = load_quads(coded + 64);
  const Quads high0 = look_up(low_halves(indices), high_bytes), high1 = look_up(high_halves(indices), high_bytes);
  pairs[0] = interleave_low(low0, high0);
  pairs[1] = interleave_high(low0, high0);
  pairs[2] = interleave_low(low1, high1);
  pairs[3] = interleave_high(low1, high1);
}

// What was asked for before may still be in a farther cache.
inline constexpr int64_t kNearAhead = 8 * kCodedGroupBytes;

// Puts a group's exceptions into their places; returns the next one. Earlier ones, of the other chain's groups, are passed over.
[[gnu::noinline]] inline const Bf16Exception* put_exceptions(const Bf16Exception* next, uint32_t first, Quads (&pairs)[4]) {
  alignas(64) std::byte raw[kRawGroupBytes];
  while (next->word < first) ++next;
  for (int v = 0; v < 4; ++v) store_quads(raw + 64 * v, pairs[v]);
  for (; next->word - first < kRawGroupBytes / 2; ++next) std::memcpy(raw + (next->word - first) * 2, &next->value, 2);
  for (int v = 0; v < 4; ++v) pairs[v] = load_quads(raw + 64 * v);
  return next;
}

// The same for coded panels, decoded in registers: memory is read without a pause. bf16_code.h has the layout. Where `decoded` is not
// null, panel p is left there as bf16_tile takes it.
template <PanelKind kKind, int kRows, int kPanels>
[[gnu::always_inline]] inline void add_coded_panels(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, std::byte* const* decoded, const float* before, float* out) {
  static_assert(kGroupK == kCodedGroupK);
  constexpr uint32_t kWords = kRawGroupBytes / 2;
  const int64_t groups_at = coded_groups_at((num_blocks + 3) / 4);
  const Bf16Exception* exception[kPanels];  // the next one
  for (int p = 0; p < kPanels; ++p) {
    exception[p] = exceptions_of(panels[p]);
    for (int64_t i = 0; i < groups_at; i += 64) __builtin_prefetch(panels[p] + ahead + i, 0, 2);
  }
  add_bf16_groups<kKind, kRows, kPanels>(x, num_blocks, before, out, [&](int64_t group, Quads (&pairs)[kPanels][4]) __attribute__((always_inline)) {
    if (group == kRunGroups && kRows * kPanels > kMostSumsInPairs)  // the second chain begins
      for (int p = 0; p < kPanels; ++p) exception[p] = exceptions_of(panels[p]);
    const std::byte* w[kPanels];
    for (int p = 0; p < kPanels; ++p) w[p] = panels[p] + groups_at + group * kCodedGroupBytes;
    prefetch_ahead<kCodedGroupBytes>(w, ahead);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      decode_group(w[p], reinterpret_cast<const CodedBf16Header*>(panels[p])->high_bytes, pairs[p]);
      if (exception[p]->word < (uint32_t(group) + 1) * kWords) [[unlikely]] exception[p] = put_exceptions(exception[p], uint32_t(group) * kWords, pairs[p]);
      if (!decoded) continue;
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) store_quads(decoded[p] + group * kRawGroupBytes + v * 64, pairs[p][v]);
    }
  });
}

template <PanelKind kKind, int kRows, int kPanels>
void coded_bf16_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, const float* before, float* out) {
  add_coded_panels<kKind, kRows, kPanels>(panels, x, num_blocks, ahead, nullptr, before, out);
}

template <PanelKind kKind, int kRows, int kPanels>
void decoding_bf16_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, std::byte* const* decoded, float* out) {
  add_coded_panels<kKind, kRows, kPanels>(panels, x, num_blocks, kNearAhead, decoded, nullptr, out);
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

// Adds quad q of kQ8Words to the integer sums.
template <int kRows, int kPanels, int q, typename Dots>
[[gnu::always_inline]] inline void add_word_quad(const std::byte* const* w, const std::byte* x, Dots (&dots)[kPanels][kRows]) {
  typename Dots::Words words[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) words[p] = Dots::widen(load_quads(w[p] + 64 * q));
#pragma GCC unroll 16
  for (int t = 0; t < kRows; ++t) {
    const typename Dots::Words b = Dots::broadcast(x + (q * kRows + t) * 8);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) dots[p][t].add(words[p], b);
  }
}

// Bits of the bytes that unpack returns.
constexpr int unpacked_bits(PanelKind kind) { return kind == PanelKind::kQ4Table ? 8 : format_of(kind).bits; }

// One group of k that shares scales: integer dot products, then their scaled sum onto the tile.
template <PanelKind kKind, int kRows, int kPanels, int group>
[[gnu::always_inline]] inline void add_group(const std::byte* const* w, const std::byte* x, Tile<kRows, kPanels>& tile) {
  constexpr PanelFormat kFormat = format_of(kKind);
  constexpr bool kWords = kKind == PanelKind::kQ8Words;
  constexpr bool kOffset = !kFormat.affine && (kWords || !(kEightBitsAreSigned && unpacked_bits(kKind) == 8));
  const std::byte* const scales = x + (kWords ? 64 : 32) * kRows;
  const std::byte* const minus_sums = scales + 4 * kRows;
  Sums minus[kRows];
  IntegerDots<kWords ? 16 : unpacked_bits(kKind), 8 / kFormat.groups> dots[kPanels][kRows];
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
  if constexpr (kWords) {
    add_word_quad<kRows, kPanels, 0>(w, x, dots);
    add_word_quad<kRows, kPanels, 1>(w, x, dots);
    add_word_quad<kRows, kPanels, 2>(w, x, dots);
    add_word_quad<kRows, kPanels, 3>(w, x, dots);
    add_word_quad<kRows, kPanels, 4>(w, x, dots);
    add_word_quad<kRows, kPanels, 5>(w, x, dots);
    add_word_quad<kRows, kPanels, 6>(w, x, dots);
    add_word_quad<kRows, kPanels, 7>(w, x, dots);
  } else if constexpr (kFormat.groups == 1) {
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
void integer_tile(const std::byte* const* panels, const std::byte* x, int64_t num_blocks, int64_t ahead, const float* before, float* out) {
  constexpr PanelFormat kFormat = format_of(kKind);
  Tile<kRows, kPanels> tile(before);
  const std::byte* w[kPanels];
  for (int p = 0; p < kPanels; ++p) w[p] = panels[p];
  for (int64_t i = 0; i < num_blocks; ++i) {
    if (ahead != 0) prefetch_ahead<kFormat.block_bytes>(w, ahead);
    add_group<kKind, kRows, kPanels, 0>(w, x, tile);
    if constexpr (kFormat.groups == 2) add_group<kKind, kRows, kPanels, 1>(w, x, tile);
    x += activation_row_bytes(kFormat.activations, 32) * kRows;
    for (int p = 0; p < kPanels; ++p) w[p] += kFormat.block_bytes;
  }
  tile.store(out);
}
