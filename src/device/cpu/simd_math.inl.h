// Functions on F32, from its few operations. Included inside a namespace, after simd_ISA.inl.h: see simd.h.
// Errors are relative unless said otherwise, measured over the range.

// e^x. Error below 2 ulp; 0 below -87.3, infinity above 88.376, where n is 128 and 2^n none of fp32's numbers; NaN stays NaN.
// x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite, ln 2 in two parts), then a polynomial for e^r.
inline F32 exp(F32 x) {
  const F32 clamped = min(broadcast(88.73f), max(broadcast(-87.3365402f), x));  // the order lets NaN through
  const F32 n = round(clamped * broadcast(1.44269504f));
  const F32 r = fma(n, broadcast(2.12194440e-4f), fma(n, broadcast(-0.693359375f), clamped));
  F32 p = broadcast(1.9875691500e-4f);
  p = fma(p, r, broadcast(1.3981999507e-3f));
  p = fma(p, r, broadcast(8.3334519073e-3f));
  p = fma(p, r, broadcast(4.1665795894e-2f));
  p = fma(p, r, broadcast(1.6666665459e-1f));
  p = fma(p, r, broadcast(5.0000001201e-1f));
  p = fma(p, r * r, r + broadcast(1.0f));
  return select(less(x, broadcast(-87.3365402f)), zero(), p * exp2_int(n));
}

// 1 / (1 + e^-x)
inline F32 sigmoid(F32 x) { return broadcast(1.0f) / (broadcast(1.0f) + exp(-x)); }

inline F32 silu(F32 x) { return x / (broadcast(1.0f) + exp(-x)); }

// (1 - e^-2|x|) / (1 + e^-2|x|) with x's sign; for small |x| an odd polynomial, which keeps the relative error below 4 ulp.
inline F32 tanh(F32 x) {
  const F32 a = abs(x), e = exp(a * broadcast(-2.0f));
  const F32 large = (broadcast(1.0f) - e) / (broadcast(1.0f) + e);
  const F32 s = x * x;
  F32 p = broadcast(-5.70498872745e-3f);
  p = fma(p, s, broadcast(2.06390887954e-2f));
  p = fma(p, s, broadcast(-5.37397155531e-2f));
  p = fma(p, s, broadcast(1.33314422036e-1f));
  p = fma(p, s, broadcast(-3.33332819422e-1f));
  return select(less(a, broadcast(0.625f)), fma(p * s, x, x), select(less(x, zero()), -large, large));
}

// Abramowitz and Stegun 7.1.26 has 1.5e-7 absolute error, which gelu turns into 1e-7 |x|.
inline F32 erf(F32 x) {
  const F32 a = abs(x), t = broadcast(1.0f) / fma(a, broadcast(0.3275911f), broadcast(1.0f));
  F32 p = broadcast(1.061405429f);
  p = fma(p, t, broadcast(-1.453152027f));
  p = fma(p, t, broadcast(1.421413741f));
  p = fma(p, t, broadcast(-0.284496736f));
  p = fma(p, t, broadcast(0.254829592f));
  const F32 y = broadcast(1.0f) - p * t * exp(-(a * a));
  return select(less(x, zero()), -y, y);
}

// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016; GPT-2's.
inline F32 gelu_tanh(F32 x) {
  const F32 inner = broadcast(0.797884561f) * fma(x * x * broadcast(0.044715f), x, x);
  return broadcast(0.5f) * x * (broadcast(1.0f) + tanh(inner));
}

inline F32 gelu_erf(F32 x) { return broadcast(0.5f) * x * (broadcast(1.0f) + erf(x * broadcast(0.707106781f))); }

inline F32 relu(F32 x) { return max(zero(), x); }
