// Included by ops/each_isa.inl.h.

// A table of operations, one a line.
// clang-format off
struct PairAdd { F32 operator()(F32 x, F32 y) const { return x + y; } };
struct PairSub { F32 operator()(F32 x, F32 y) const { return x - y; } };
struct PairMul { F32 operator()(F32 x, F32 y) const { return x * y; } };
// clang-format on

template <typename Inner, typename Outer, bool kInnerIsSecond>
void pair_loop(const float* x, const float* y, const float* z, float* out, int64_t n) {
  for_vectors(
      n, [&](int64_t i, int m) __attribute__((always_inline)) {
        const F32 inner = Inner()(load_some(x + i, m), load_some(y + i, m)), other = load_some(z + i, m);
        store_some(out + i, kInnerIsSecond ? Outer()(other, inner) : Outer()(inner, other), m);
      });
}

template <typename Inner>
PairRun pair_with(BinaryFunction outer, bool inner_is_second) {
  switch (outer) {  // sums and products do not care which comes first
    case BinaryFunction::kAdd: return pair_loop<Inner, PairAdd, false>;
    case BinaryFunction::kMul: return pair_loop<Inner, PairMul, false>;
    case BinaryFunction::kSub: return inner_is_second ? pair_loop<Inner, PairSub, true> : pair_loop<Inner, PairSub, false>;
    default: return nullptr;
  }
}

inline PairRun pair_function(BinaryFunction inner, BinaryFunction outer, bool inner_is_second) {
  switch (inner) {
    case BinaryFunction::kAdd: return pair_with<PairAdd>(outer, inner_is_second);
    case BinaryFunction::kSub: return pair_with<PairSub>(outer, inner_is_second);
    case BinaryFunction::kMul: return pair_with<PairMul>(outer, inner_is_second);
    default: return nullptr;
  }
}
