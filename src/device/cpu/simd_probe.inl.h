// Evaluates functions on arrays with one instruction set, for simd_test.cpp, which itself stays baseline code.

// A table of operations, one a line.
// clang-format off
template <typename Function>
void map(Function function, const float* x, float* y, int n) {
  for (int i = 0; i < n; i += F32::kLanes) {
    const int m = n - i < F32::kLanes ? n - i : F32::kLanes;
    store(y + i, function(load(x + i, m)), m);
  }
}
struct Exp { F32 operator()(F32 x) const { return exp(x); } };
struct Tanh { F32 operator()(F32 x) const { return tanh(x); } };
struct Erf { F32 operator()(F32 x) const { return erf(x); } };
struct Silu { F32 operator()(F32 x) const { return silu(x); } };
struct Bf16 { F32 operator()(F32 x) const { BFloat16 b[16]; store(b, x); return load(b); } };
struct F16 { F32 operator()(F32 x) const { Half b[16]; store(b, x); return load(b); } };
void probe(int which, const float* x, float* y, int n) {
  if (which == 0) map(Exp{}, x, y, n);
  if (which == 1) map(Tanh{}, x, y, n);
  if (which == 2) map(Erf{}, x, y, n);
  if (which == 3) map(Silu{}, x, y, n);
  if (which == 4) map(Bf16{}, x, y, n);
  if (which == 5) map(F16{}, x, y, n);
}
void reduce(const float* x, float* y) {
  y[0] = reduce_add(load(x));
  y[1] = reduce_max(load(x));
}
void transpose_square(const float* x, float* y) {
  F32 rows[F32::kLanes];
  for (int i = 0; i < F32::kLanes; ++i) rows[i] = load(x + i * F32::kLanes);
  transpose(rows);
  for (int i = 0; i < F32::kLanes; ++i) store(y + i * F32::kLanes, rows[i]);
}
