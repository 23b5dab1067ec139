// Products of attention in fp32: what is stored is widened to floats. Included inside a namespace, after simd_ISA.inl.h.
//
// A Products type says how attention's two products, scores = q k and y = weights v, are computed. An *element* holds kDepth numbers
// that are multiplied in one step: neighbouring dims of q and k, neighbouring positions of weights and v.
template <typename T>
struct F32Products {
  using Element = float;
  using Vector = F32;  // of kLanes elements
  static constexpr int kDepth = 1;

  static F32 multiply_add(F32 a, F32 b, F32 sum) { return fma(a, b, sum); }
  // e^x for x <= 0, as exact as weights are.
  static F32 exp_of_score(F32 x) { return exp(x); }
  // Dims [d, d + kLanes * kDepth) of a stored vector; those past the first n are 0.
  static F32 load_dims(const std::byte* row, int d, int n) {
    const T* p = reinterpret_cast<const T*>(row) + d;
    return n >= F32::kLanes ? load(p) : load(p, n);
  }
  // Dims [d, d + kLanes) of kDepth stored vectors; those past the first n are 0.
  static F32 load_positions(const std::byte* const* rows, int d, int n) { return load_dims(rows[0], d, n); }
  // The numbers [begin, end) of each element, 0 for the others.
  static F32 only(F32 x, int, int) { return x; }
  // Writes floats as numbers [first, first + kLanes) of the elements at p, which may be where they came from.
  static void store_numbers(float* p, int first, F32 x) { store(p + first, x); }
  // Asks for the cache lines of a vector's dims from d. Blocks of a cache lie scattered, which hardware does not foresee.
  static void prefetch(const std::byte* row, int d) {
    if (d * int(sizeof(T)) % 64 == 0) __builtin_prefetch(row + d * int(sizeof(T)));
  }
};
