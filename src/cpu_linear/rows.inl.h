// A row's way in (normalize, convert, lay out for broadcasting) and out (bias, activation, gate, residual).
// Included inside a namespace, after lanes_ISA.inl.h and simd_math.inl.h.

inline int lanes_at(int64_t at, int64_t k) { return k - at < F32::kLanes ? int(k - at) : F32::kLanes; }

// A row to convert: x itself, or a.normalized.
inline const float* normalized(const PrepareArgs& a, int row) {
  const float* const x_row = a.x + row * a.x_stride;
  if (a.norm == NormKind::kNone) return x_row;
  float mean = 0;
  if (a.norm == NormKind::kLayer) {
    F32 sum = zero();
    for (int64_t i = 0; i < a.k; i += F32::kLanes) sum = sum + load(x_row + i, lanes_at(i, a.k));
    mean = reduce_add(sum) / float(a.k);
  }
  F32 squares = zero();
  for (int64_t i = 0; i < a.k; i += F32::kLanes) {
    const int n = lanes_at(i, a.k);
    F32 x = load(x_row + i, n);
    if (a.norm == NormKind::kLayer) {
      store(a.normalized + i, x - broadcast(mean), n);
      x = load(a.normalized + i, n);
    }
    squares = fma(x, x, squares);
  }
  const F32 scale = broadcast(1.0f / std::sqrt(reduce_add(squares) / float(a.k) + a.eps));
  const float* centered = a.norm == NormKind::kLayer ? a.normalized : x_row;
  for (int64_t i = 0; i < a.k; i += F32::kLanes) {
    const int n = lanes_at(i, a.k);
    const F32 y = load(centered + i, n) * scale * load(a.norm_weight + i, n);
    store(a.normalized + i, a.norm_bias ? y + load(a.norm_bias + i, n) : y, n);
  }
  return a.normalized;
}

inline void prepare_f32(const PrepareArgs& a) {
  for (int row = 0; row < a.rows; ++row) {
    const float* x = normalized(a, row);
    float* at = reinterpret_cast<float*>(a.tile) + row;
    for (int64_t i = 0; i < a.k; ++i, at += a.rows) *at = x[i];
    if (a.k % 2) *at = 0;
  }
}

inline void prepare_bf16(const PrepareArgs& a) {
  const int64_t stride = int64_t{a.rows} * 4;
  for (int row = 0; row < a.rows; ++row) {
    const float* x = normalized(a, row);
    std::byte* at = a.tile + row * 4;
    for (int64_t i = 0; i < a.k; i += F32::kLanes) {
      const int n = lanes_at(i, a.k);
      BFloat16 rounded[F32::kLanes];
      store(rounded, load(x + i, n));
      if (n == F32::kLanes) {
#pragma GCC unroll 8
        for (int j = 0; j < F32::kLanes; j += 2, at += stride) std::memcpy(at, rounded + j, 4);
      } else {
        for (int j = 0; j < n; j += 2, at += stride) std::memcpy(at, rounded + j, 4);
      }
    }
  }
}

// A float without fraction; of a NaN, anything.
inline int32_t whole(float f) { return f == f ? int32_t(f) : 0; }

// Per 32 k: scale = largest / 127, integers rounded to nearest even. A NaN or infinity makes the scale NaN.
inline void prepare_int8(const PrepareArgs& a) {
  constexpr int kVectors = 32 / F32::kLanes;
  const int64_t stride = int64_t{a.rows} * 4;
  for (int row = 0; row < a.rows; ++row) {
    const float* x = normalized(a, row);
    std::byte* at = a.tile + row * 4;
    for (int64_t block = 0; block < a.k / 32; ++block, x += 32) {
      F32 v[kVectors], largest = zero();
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        v[i] = load(x + i * F32::kLanes);
        largest = max(largest, abs(v[i]));
      }
      const float top = reduce_max(largest);
      const F32 inverse = broadcast(top > 1e-30f ? 127.0f / top : 0.0f);
      alignas(64) std::byte bytes[64];
      float sums[2];
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        F32 sum = zero();
#pragma GCC unroll 8
        for (int i = half * kVectors / 2; i < (half + 1) * kVectors / 2; ++i) {
          const F32 q = round(v[i] * inverse);
          store_i8(bytes + i * F32::kLanes, q);
          sum = sum + q;
        }
        sums[half] = reduce_add(sum);
      }
      const float scale = top / 127.0f + (sums[0] + sums[1]) * 0.0f;
      const int32_t minus[2] = {whole(-sums[0]), whole(-sums[1])};
#pragma GCC unroll 8
      for (int quad = 0; quad < 8; ++quad, at += stride) std::memcpy(at, bytes + quad * 4, 4);
      std::memcpy(at, &scale, 4);
      std::memcpy(at + stride, &minus[0], 4);
      std::memcpy(at + 2 * stride, &minus[1], 4);
      at += 3 * stride;
    }
  }
}

// Coded bfloat16 to words: see bf16_code.h. Exceptions are left to the caller.
inline void decode_groups(const std::byte* coded, const uint8_t* high_bytes, int64_t num_groups, std::byte* raw) {
  for (int64_t i = 0; i < num_groups; ++i, coded += kCodedGroupBytes, raw += kRawGroupBytes) {
    const Quads indices = load_quads(coded + 128);
    for (int half = 0; half < 2; ++half) {
      const Quads low = load_quads(coded + 64 * half), high = look_up(half == 0 ? low_halves(indices) : high_halves(indices), high_bytes);
      store_quads(raw + 128 * half, interleave_low(low, high));
      store_quads(raw + 128 * half + 64, interleave_high(low, high));
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
