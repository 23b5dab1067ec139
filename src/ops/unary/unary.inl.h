// Unary functions on floats. Included by ops/each_isa.inl.h.

// A table of operations, one a line.
// clang-format off
struct Neg { F32 operator()(F32 x) const { return -x; } };
struct Abs { F32 operator()(F32 x) const { return abs(x); } };
struct Square { F32 operator()(F32 x) const { return x * x; } };
struct Sign { F32 operator()(F32 x) const { return select(less(zero(), x), broadcast(1.0f), select(less(x, zero()), broadcast(-1.0f), zero())); } };
struct Floor { F32 operator()(F32 x) const { const F32 r = round(x); return select(less(x, r), r - broadcast(1.0f), r); } };
struct Ceil { F32 operator()(F32 x) const { const F32 r = round(x); return select(less(r, x), r + broadcast(1.0f), r); } };
struct Round { F32 operator()(F32 x) const { return round(x); } };
struct Relu { F32 operator()(F32 x) const { return relu(x); } };
struct Exp { F32 operator()(F32 x) const { return exp(x); } };
struct Sqrt { F32 operator()(F32 x) const { return sqrt(x); } };
struct Rsqrt { F32 operator()(F32 x) const { return broadcast(1.0f) / sqrt(x); } };
struct Tanh { F32 operator()(F32 x) const { return tanh(x); } };
struct Sigmoid { F32 operator()(F32 x) const { return sigmoid(x); } };
struct Silu { F32 operator()(F32 x) const { return silu(x); } };
struct Erf { F32 operator()(F32 x) const { return erf(x); } };
struct GeluErf { F32 operator()(F32 x) const { return gelu_erf(x); } };
struct GeluTanh { F32 operator()(F32 x) const { return gelu_tanh(x); } };

template <typename Function>
void unary_run(const float* x, float* out, int64_t n) {
  map(Function(), x, out, n);
}

inline UnaryRun unary_function(UnaryFunction function) {
  switch (function) {
    case UnaryFunction::kNeg: return unary_run<Neg>;
    case UnaryFunction::kAbs: return unary_run<Abs>;
    case UnaryFunction::kSquare: return unary_run<Square>;
    case UnaryFunction::kSign: return unary_run<Sign>;
    case UnaryFunction::kFloor: return unary_run<Floor>;
    case UnaryFunction::kCeil: return unary_run<Ceil>;
    case UnaryFunction::kRound: return unary_run<Round>;
    case UnaryFunction::kRelu: return unary_run<Relu>;
    case UnaryFunction::kExp: return unary_run<Exp>;
    case UnaryFunction::kSqrt: return unary_run<Sqrt>;
    case UnaryFunction::kRsqrt: return unary_run<Rsqrt>;
    case UnaryFunction::kTanh: return unary_run<Tanh>;
    case UnaryFunction::kSigmoid: return unary_run<Sigmoid>;
    case UnaryFunction::kSilu: return unary_run<Silu>;
    case UnaryFunction::kErf: return unary_run<Erf>;
    case UnaryFunction::kGeluErf: return unary_run<GeluErf>;
    case UnaryFunction::kGeluTanh: return unary_run<GeluTanh>;
    case UnaryFunction::kLog: case UnaryFunction::kSin: case UnaryFunction::kCos: break;  // scalar
  }
  return nullptr;
}
