// 4 floats in portable C++ (the compiler uses SSE2 or NEON). Included inside a namespace: see simd.h.

// A table of operations, one a line.
// clang-format off

struct F32 {
  static constexpr int kLanes = 4;
  float v[4];
};
struct Mask {
  bool v[4];
};

template <typename Function>
inline F32 for_lanes(Function&& f) {
  return {f(0), f(1), f(2), f(3)};
}

inline F32 broadcast(float f) { return {f, f, f, f}; }
inline F32 zero() { return broadcast(0); }

inline float to_float(float f) { return f; }
inline float to_float(Half h) { return float(h); }
inline float to_float(BFloat16 b) { return float(b); }

// T: float, Half, BFloat16.
template <typename T>
inline F32 load(const T* p) { return for_lanes([&](int i) { return to_float(p[i]); }); }
template <typename T>
inline F32 load(const T* p, int n) { return for_lanes([&](int i) { return i < n ? to_float(p[i]) : 0.0f; }); }
template <typename T>
inline void store(T* p, F32 x) { for (int i = 0; i < 4; ++i) p[i] = T(x.v[i]); }
template <typename T>
inline void store(T* p, F32 x, int n) { for (int i = 0; i < n; ++i) p[i] = T(x.v[i]); }

inline F32 operator+(F32 a, F32 b) { return for_lanes([&](int i) { return a.v[i] + b.v[i]; }); }
inline F32 operator-(F32 a, F32 b) { return for_lanes([&](int i) { return a.v[i] - b.v[i]; }); }
inline F32 operator*(F32 a, F32 b) { return for_lanes([&](int i) { return a.v[i] * b.v[i]; }); }
inline F32 operator/(F32 a, F32 b) { return for_lanes([&](int i) { return a.v[i] / b.v[i]; }); }
inline F32 operator-(F32 a) { return for_lanes([&](int i) { return -a.v[i]; }); }
inline F32 fma(F32 a, F32 b, F32 c) { return for_lanes([&](int i) { return a.v[i] * b.v[i] + c.v[i]; }); }
inline F32 max(F32 a, F32 b) { return for_lanes([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; }); }
inline F32 min(F32 a, F32 b) { return for_lanes([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; }); }
inline F32 abs(F32 a) { return for_lanes([&](int i) { return std::fabs(a.v[i]); }); }
inline F32 sqrt(F32 a) { return for_lanes([&](int i) { return std::sqrt(a.v[i]); }); }
inline F32 round(F32 a) { return for_lanes([&](int i) { return std::nearbyint(a.v[i]); }); }
inline void stream(float* p, F32 x) { store(p, x); }
inline Mask less(F32 a, F32 b) { return {a.v[0] < b.v[0], a.v[1] < b.v[1], a.v[2] < b.v[2], a.v[3] < b.v[3]}; }
inline F32 select(Mask m, F32 a, F32 b) { return for_lanes([&](int i) { return m.v[i] ? a.v[i] : b.v[i]; }); }
inline F32 exp2_int(F32 n) {
  return for_lanes([&](int i) { return n.v[i] == n.v[i] ? std::bit_cast<float>(uint32_t(int(n.v[i]) + 127) << 23) : n.v[i]; });
}

// n floats (at most kLanes / 2), each in two neighbouring lanes.
inline F32 load_twice(const float* p, int n) { return for_lanes([&](int i) { return i / 2 < n ? p[i / 2] : 0.0f; }); }
// Pairs of lanes (a, b) to (-b, a).
inline F32 quarter_turn(F32 x) { return {-x.v[1], x.v[0], -x.v[3], x.v[2]}; }

inline void transpose(F32 (&x)[4]) {
  F32 columns[4];
  for (int c = 0; c < 4; ++c) columns[c] = for_lanes([&](int i) { return x[i].v[c]; });
  for (int c = 0; c < 4; ++c) x[c] = columns[c];
}

inline float reduce_add(F32 x) { return (x.v[0] + x.v[2]) + (x.v[1] + x.v[3]); }
inline float reduce_max(F32 x) {
  const F32 two = max(x, F32{x.v[2], x.v[3], x.v[2], x.v[3]});
  return two.v[0] > two.v[1] ? two.v[0] : two.v[1];
}
