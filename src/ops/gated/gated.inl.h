// act(gate) * value for a piece of a row. Included by ops/each_isa.inl.h.
struct GatedSilu {
  F32 operator()(F32 gate, F32 value) const { return silu(gate) * value; }
};
struct GatedGeluTanh {
  F32 operator()(F32 gate, F32 value) const { return gelu_tanh(gate) * value; }
};
struct GatedGeluErf {
  F32 operator()(F32 gate, F32 value) const { return gelu_erf(gate) * value; }
};
struct GatedRelu {
  F32 operator()(F32 gate, F32 value) const { return relu(gate) * value; }
};

inline void gated_run(Activation activation, const float* gate, const float* value, float* out, int64_t n) {
  switch (activation) {
    case Activation::kSilu: return map(GatedSilu(), gate, value, out, n);
    case Activation::kGeluTanh: return map(GatedGeluTanh(), gate, value, out, n);
    case Activation::kGeluErf: return map(GatedGeluErf(), gate, value, out, n);
    case Activation::kRelu: return map(GatedRelu(), gate, value, out, n);
  }
}
