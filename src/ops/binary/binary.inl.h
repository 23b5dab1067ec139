// Binary functions on floats. Included by ops/each_isa.inl.h.

// A table of operations, one a line.
// clang-format off
struct Add { F32 operator()(F32 x, F32 y) const { return x + y; } };
struct Sub { F32 operator()(F32 x, F32 y) const { return x - y; } };
struct Mul { F32 operator()(F32 x, F32 y) const { return x * y; } };
struct Div { F32 operator()(F32 x, F32 y) const { return x / y; } };
struct Maximum { F32 operator()(F32 x, F32 y) const { return maximum(x, y); } };
struct Minimum { F32 operator()(F32 x, F32 y) const { return minimum(x, y); } };

template <typename Function>
void binary_run(const float* x, const float* y, float* out, int64_t n) {
  map(Function(), x, y, out, n);
}

inline BinaryRun binary_function(BinaryFunction function) {
  switch (function) {
    case BinaryFunction::kAdd: return binary_run<Add>;
    case BinaryFunction::kSub: return binary_run<Sub>;
    case BinaryFunction::kMul: return binary_run<Mul>;
    case BinaryFunction::kDiv: return binary_run<Div>;
    case BinaryFunction::kMaximum: return binary_run<Maximum>;
    case BinaryFunction::kMinimum: return binary_run<Minimum>;
    case BinaryFunction::kPow: case BinaryFunction::kRemainder: break;  // scalar
  }
  return nullptr;
}
