// A row's way in (normalize, convert, lay out for broadcasting) and out (bias, activation, gate, residual).
// Included inside a namespace, after lanes_ISA.inl.h and simd_math.inl.h.

inline int lanes_at(int64_t at, int64_t k) { return k - at < F32::kLanes ? int(k - at) : F32::kLanes; }

// A row on its way in, normalized as it is read.
class InputRow {
 public:
  InputRow(const PrepareArgs& a, int row) : a_(a), x_(a.x + row * a.x_stride), mean_(zero()), scale_(zero()) {
    if (a.norm == NormKind::kNone) return;
    if (a.norm == NormKind::kLayer) {
      F32 sum = zero();
      for (int64_t i = 0; i < a.k; i += F32::kLanes) sum = sum + load(x_ + i, lanes_at(i, a.k));
      mean_ = broadcast(reduce_add(sum) / float(a.k));
    }
    F32 squares = zero();
    for (int64_t i = 0; i < a.k; i += F32::kLanes) {
      const F32 x = centered(i, lanes_at(i, a.k));
      squares = fma(x, x, squares);
    }
    scale_ = broadcast(1.0f / std::sqrt(reduce_add(squares) / float(a.k) + a.eps));
  }

  // Elements i .. i + n - 1, zeros after them.
  F32 at(int64_t i, int n) const {
    if (a_.norm == NormKind::kNone) return load(x_ + i, n);
    const F32 y = centered(i, n) * scale_ * load(a_.norm_weight + i, n);
    return a_.norm_bias ? y + load(a_.norm_bias + i, n) : y;
  }

 private:
  F32 centered(int64_t i, int n) const {
    const F32 x = load(x_ + i, n);
    if (a_.norm != NormKind::kLayer) return x;
    if (n == F32::kLanes) return x - mean_;
    alignas(64) float some[F32::kLanes] = {};
    store(some, x - mean_, n);
    return load(some);
  }

  const PrepareArgs& a_;
  const float* x_;
  F32 mean_, scale_;
};

inline void prepare_f32(const PrepareArgs& a) {
  for (int row = 0; row < a.rows; ++row) {
    const InputRow x(a, row);
    float* at = reinterpret_cast<float*>(a.tile) + row;
    for (int64_t i = 0; i < a.k; i += F32::kLanes) {
      alignas(64) float values[F32::kLanes];
      const int n = lanes_at(i, a.k);
      store(values, x.at(i, n));
      for (int j = 0; j < n; ++j, at += a.rows) *at = values[j];
    }
    if (a.k % 2) *at = 0;
  }
}

// A float without fraction; of a NaN, anything.
inline int32_t whole(float f) { return f == f ? int32_t(f) : 0; }

// A float with the 11 bits of a half, though of any size.
inline float half_precision(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  bits += 0xfff + (bits >> 13 & 1);
  bits &= ~0x1fffu;
  std::memcpy(&f, &bits, 4);
  return f;
}

// A quad's bytes as they are, or as int16 in the order 0 2 1 3.
inline void put_bytes(std::byte* to, const std::byte* quad) { std::memcpy(to, quad, 4); }
inline void put_words(std::byte* to, const std::byte* quad) {
  const int16_t words[4] = {int8_t(quad[0]), int8_t(quad[2]), int8_t(quad[1]), int8_t(quad[3])};
  std::memcpy(to, words, 8);
}

// Per 32 k, as a Q8_0 block would hold them: scale = largest / 127 in half precision, integers of the unrounded scale, rounded to
// nearest even. A NaN or infinity makes the scale NaN.
template <void (*kPut)(std::byte*, const std::byte*), int kQuadBytes>
void prepare_int8(const PrepareArgs& a) {
  constexpr int kVectors = 32 / F32::kLanes;
  const int64_t stride = int64_t{a.rows} * 4;
  for (int row = 0; row < a.rows; ++row) {
    const InputRow x(a, row);
    std::byte* block_at = a.tile;
    for (int64_t block = 0; block < a.k / 32; ++block) {
      F32 v[kVectors], largest = zero();
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        v[i] = x.at(block * 32 + i * F32::kLanes, F32::kLanes);
        largest = max(largest, abs(v[i]));
      }
      const float top = reduce_max(largest);
      const F32 inverse = broadcast(top > 1e-30f ? 127.0f / top : 0.0f);
      alignas(64) std::byte bytes[64];
      float sums[2];
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        F32 sum = zero();
        for (int i = half * kVectors / 2; i < (half + 1) * kVectors / 2; ++i) {
          const F32 q = round(v[i] * inverse);
          store_i8(bytes + i * F32::kLanes, q);
          sum = sum + q;
        }
        sums[half] = reduce_add(sum);
      }
      const float scale = half_precision(top / 127.0f) + (sums[0] + sums[1]) * 0.0f;
      const int32_t minus[2] = {whole(-sums[0]), whole(-sums[1])};
#pragma GCC unroll 8
      for (int quad = 0; quad < 8; ++quad) kPut(block_at + (quad * a.rows + row) * kQuadBytes, bytes + quad * 4);
      std::byte* const at = block_at + 8 * kQuadBytes * int64_t{a.rows} + row * 4;
      std::memcpy(at, &scale, 4);
      std::memcpy(at + stride, &minus[0], 4);
      std::memcpy(at + 2 * stride, &minus[1], 4);
      block_at += (8 * kQuadBytes + 12) * int64_t{a.rows};
    }
  }
}

inline F32 activate(F32 x, LinearActivation activation) {
  switch (activation) {
    case LinearActivation::kNone: return x;
    case LinearActivation::kSilu: return silu(x);
    case LinearActivation::kGeluTanh: return gelu_tanh(x);
    case LinearActivation::kGeluErf: return gelu_erf(x);
    case LinearActivation::kRelu: return relu(x);
  }
  return x;
}

template <LinearActivation kActivation>
inline void finish_as(const FinishArgs& a) {
  for (int i = 0; i < a.columns; i += F32::kLanes) {
    const int n = lanes_at(i, a.columns);
    const F32 bias = a.bias ? load(a.bias + i, n) : zero(), bias_b = a.bias_b ? load(a.bias_b + i, n) : zero();
    for (int row = 0; row < a.rows; ++row) {
      F32 y = activate(load(a.a + row * kPanelRows + i) + bias, kActivation);
      if (a.b) y = y * (load(a.b + row * kPanelRows + i) + bias_b);
      if (a.residual) y = y + load(a.residual + row * a.residual_stride + i, n);
      store(a.y + row * a.y_stride + i, y, n);
    }
  }
}

inline void finish(const FinishArgs& a) {
  switch (a.activation) {
    case LinearActivation::kNone: return finish_as<LinearActivation::kNone>(a);
    case LinearActivation::kSilu: return finish_as<LinearActivation::kSilu>(a);
    case LinearActivation::kGeluTanh: return finish_as<LinearActivation::kGeluTanh>(a);
    case LinearActivation::kGeluErf: return finish_as<LinearActivation::kGeluErf>(a);
    case LinearActivation::kRelu: return finish_as<LinearActivation::kRelu>(a);
  }
}
