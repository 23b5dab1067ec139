// A panel's 16 rows as lanes, in portable C++. Included inside a namespace, after simd_baseline.inl.h.

// A table of operations, one a line.
// clang-format off

struct Lanes {
  float v[16];
};
struct Sums {
  int32_t v[16];
};
struct Quads {
  uint8_t v[64];
};

template <typename Result, typename Function>
inline Result each(Function&& f) {
  Result r;
  for (int i = 0; i < int(sizeof(r.v) / sizeof(r.v[0])); ++i) r.v[i] = f(i);
  return r;
}
template <typename T>
inline T value_at(const std::byte* p, int index = 0) {
  T value;
  std::memcpy(&value, p + index * sizeof(T), sizeof(T));
  return value;
}

inline Lanes load_lanes(const float* p) { return each<Lanes>([&](int i) { return p[i]; }); }
inline void store_lanes(float* p, const Lanes& x) { std::memcpy(p, x.v, sizeof(x.v)); }
inline Lanes load_f32_lanes(const std::byte* p) { return each<Lanes>([&](int i) { return value_at<float>(p, i); }); }
inline Lanes load_f16_lanes(const std::byte* p) { return each<Lanes>([&](int i) { return half_to_float(value_at<uint16_t>(p, i)); }); }
inline Lanes even_bf16(const Quads& q) {
  return each<Lanes>([&](int i) { return bfloat16_to_float(uint16_t(q.v[4 * i] | q.v[4 * i + 1] << 8)); });
}
inline Lanes odd_bf16(const Quads& q) {
  return each<Lanes>([&](int i) { return bfloat16_to_float(uint16_t(q.v[4 * i + 2] | q.v[4 * i + 3] << 8)); });
}
inline Lanes broadcast_lanes(const std::byte* p) { return each<Lanes>([x = value_at<float>(p)](int) { return x; }); }
inline constexpr int kMostSumsInPairs = 1;
inline Lanes zero_lanes() { return {}; }
inline Lanes add(const Lanes& a, const Lanes& b) { return each<Lanes>([&](int i) { return a.v[i] + b.v[i]; }); }
inline Lanes mul(const Lanes& a, const Lanes& b) { return each<Lanes>([&](int i) { return a.v[i] * b.v[i]; }); }
inline Lanes fma(const Lanes& a, const Lanes& b, const Lanes& c) { return each<Lanes>([&](int i) { return a.v[i] * b.v[i] + c.v[i]; }); }
inline Lanes fma_minus(const Lanes& a, const Lanes& b, const Lanes& c) { return each<Lanes>([&](int i) { return c.v[i] - a.v[i] * b.v[i]; }); }

inline Quads load_quads(const std::byte* p) { return value_at<Quads>(p); }
inline void store_quads(std::byte* p, const Quads& q) { std::memcpy(p, q.v, sizeof(q.v)); }
// Bytes of q are indices into 16 bytes.
inline Quads look_up(const Quads& q, const uint8_t* table) { return each<Quads>([&](int i) { return table[q.v[i]]; }); }
// Bytes of a and b in turn, from the low or high eight of each 16.
inline Quads interleave(const Quads& a, const Quads& b, int first) {
  return each<Quads>([&](int i) { return (i % 2 ? b : a).v[i / 16 * 16 + first + i % 16 / 2]; });
}
inline Quads interleave_low(const Quads& a, const Quads& b) { return interleave(a, b, 0); }
inline Quads interleave_high(const Quads& a, const Quads& b) { return interleave(a, b, 8); }
inline Quads broadcast_quad(const std::byte* p) { return each<Quads>([&](int i) { return uint8_t(p[i % 4]); }); }
inline Quads low_halves(const Quads& q) { return each<Quads>([&](int i) { return uint8_t(q.v[i] & 15); }); }
inline Quads high_halves(const Quads& q) { return each<Quads>([&](int i) { return uint8_t(q.v[i] >> 4); }); }
inline Quads look_up_iq4(const Quads& q) { return each<Quads>([&](int i) { return uint8_t(kIq4Values[q.v[i]] + 128); }); }
inline Quads with_fifth_bits(const Quads& q, const std::byte* mask) {
  return each<Quads>([&](int i) { return uint8_t(q.v[i] | (uint8_t(mask[i / 8]) >> i % 8 & 1) << 4); });
}
template <int s>
inline Quads with_upper_pair(const Quads& q, const Quads& pairs) {
  return each<Quads>([&](int i) { return uint8_t(q.v[i] | (pairs.v[i] >> 2 * s & 3) << 4); });
}

inline Sums no_sums() { return {}; }
inline Sums broadcast_sum(const std::byte* p) { return each<Sums>([x = value_at<int32_t>(p)](int) { return x; }); }
inline Sums add(const Sums& a, const Sums& b) { return each<Sums>([&](int i) { return a.v[i] + b.v[i]; }); }
template <int n>
inline Sums shift_left(const Sums& s) { return each<Sums>([&](int i) { return s.v[i] * (1 << n); }); }
inline Lanes to_lanes(const Sums& s) { return each<Lanes>([&](int i) { return float(s.v[i]); }); }

// Dot products: add<q> is called once for each of a group's kQuads quads, in order. w: unsigned; x: signed.
inline constexpr bool kHasWordDots = false;
inline constexpr bool kEightBitsAreSigned = false;
inline Quads load_eight_bits(const std::byte* p) { return load_quads(p); }
template <int kBits, int kQuads>
struct IntegerDots {
  Sums sums;
  template <int q>
  void add(const Quads& w, const Quads& x) {
    for (int i = 0; i < 64; ++i) sums.v[i / 4] += int32_t(w.v[i]) * int8_t(x.v[i]);
  }
};

inline void store_i8(std::byte* p, F32 x) {
  for (int i = 0; i < F32::kLanes; ++i) p[i] = std::byte(x.v[i] >= -127 && x.v[i] <= 127 ? int8_t(x.v[i]) : int8_t(0));  // NaN: 0
}

inline constexpr bool kHasBf16Dot = false;
inline constexpr void (*prepare_bf16)(const PrepareArgs&) = nullptr;
