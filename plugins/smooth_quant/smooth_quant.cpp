// smooth_quant: products of int8 by int8, and the pass that puts them in place of a model's linears (W8A8, as in Xiao et al. 2022).
//
//   y = smooth_quant_gemm(x, w, x_scale, w_scale)
//   x        (m, k) int8;  w  (n, k) int8
//   x_scale  (m) float32, one for each token, or (1) for the tensor;  w_scale  (n), one for each output channel, or (1)
//   y        (m, n) float32 = x_scale * w_scale * (x w^T), the sums in int32
//
// The pass "smooth-quant" turns linear(x, weight), its weight known at load, into quantize_tensor of both (plugin quantize_tensor, loaded
// before this one) and the product. Linears that are results of the graph, the logits above all, stay as they are. Smoothing itself, which
// moves large activations into the weights, is in a checkpoint's numbers already: norms divided, weights multiplied by the same factors.
#include "smooth_quant.h"

#include <memory>

#include "headrace/plugin.hpp"

namespace {

using namespace headrace::plugin;

// ---------------------------------------------------------------------------------------------------------------- the op

constexpr int64_t kMostProducts = 131071;  // that int32 can sum: (-128)^2 times that

std::vector<Type> infer(const Call& call) {
  const Type x = call.input(0), w = call.input(1), x_scale = call.input(2), w_scale = call.input(3);
  call.want(x.dtype == HEADRACE_I8 && w.dtype == HEADRACE_I8, "x and w are wanted as i8");
  call.want(x_scale.dtype == HEADRACE_F32 && w_scale.dtype == HEADRACE_F32, "scales are wanted as f32");
  call.want(x.rank() == 2 && w.rank() == 2 && x[1] == w[1], "x (m, k) and w (n, k) are wanted");
  call.want(!x[1].is_number() || x[1].value() <= kMostProducts, "k is wanted at most " + std::to_string(kMostProducts));
  call.want(x_scale.rank() == 1 && (x_scale[0] == 1 || x_scale[0] == x[0]), "x_scale is wanted as (1) or one for each row of x");
  call.want(w_scale.rank() == 1 && (w_scale[0] == 1 || w_scale[0] == w[0]), "w_scale is wanted as (1) or one for each row of w");
  return {{HEADRACE_F32, {x[0], w[0]}}};
}

GemmParams params_of(const Tensor& x, const Tensor& w, const Tensor& x_scale, const Tensor& w_scale, const Tensor& y) {
  return {x.as<int8_t>(), w.as<int8_t>(), x_scale.as<float>(), w_scale.as<float>(), y.as<float>(),
          x.size(0),      w.size(0),      x.size(1),           x_scale.size(0) > 1, w_scale.size(0) > 1};
}

void reference(const Call&, const Tensors& in, const Tensors& out) {
  const GemmParams p = params_of(in[0], in[1], in[2], in[3], out[0]);
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      int32_t sum = 0;
      for (int64_t k = 0; k < p.k; ++k) sum += int32_t{p.x[i * p.k + k]} * p.w[j * p.k + k];
      p.y[i * p.n + j] = float(sum) * (p.scale_of_row(i) * p.scale_of_column(j));
    }
}

// ---------------------------------------------------------------------------------------------------------------- kernels

GemmParams params_of(const Launch& l) { return params_of(l.input(0), l.input(1), l.input(2), l.input(3), l.output(0)); }

// Of weights known at load; they are packed then, and read once for every eight rows.
class PanelsVnni {
 public:
  static bool supports(const KernelRequest& request) {
    return has_vnni() && request.is_constant(1) && request.constant(1).size(1) % 4 == 0;
  }
  explicit PanelsVnni(const KernelRequest& request) {
    const Tensor w = request.constant(1);
    const int64_t n = w.size(0), k = w.size(1);
    packed_.reset(new uint8_t[size_t(num_panels(n) * kPanel * k)]);
    pack_panels(w.as<int8_t>(), n, k, packed_.get());
    // What was known comes without data from now on, the scales included.
    for (const auto& [operand, scales] : {std::pair(2, &x_scale_), {3, &w_scale_}})
      if (const Tensor t = request.constant(operand); t.data) scales->assign(t.as<float>(), t.as<float>() + t.numel());
  }
  size_t workspace_bytes(const Launch& sizes) const { return size_t(sizes.input(0).size(0)) * sizeof(int32_t); }
  void run(const Launch& launch) const {
    GemmParams p = params_of(launch);
    if (!x_scale_.empty()) p.x_scale = x_scale_.data();
    if (!w_scale_.empty()) p.w_scale = w_scale_.data();
    int32_t* sums = static_cast<int32_t*>(launch.workspace());
    const auto [first, last] = launch.share(p.m);
    for (int64_t i = first; i < last; ++i) {
      sums[i] = 0;
      for (int64_t k = 0; k < p.k; ++k) sums[i] += p.x[i * p.k + k];
    }
    launch.barrier();
    const auto [begin, end] = launch.share(num_panels(p.n));
    gemm_by_panels(p, packed_.get(), sums, begin, end);
  }

 private:
  std::unique_ptr<uint8_t[]> packed_;
  std::vector<float> x_scale_, w_scale_;
};

class Dots {
 public:
  explicit Dots(const KernelRequest&) {}
  void run(const Launch& launch) const {
    const GemmParams p = params_of(launch);
    const auto [begin, end] = launch.share(p.n);
    gemm_by_dots(p, begin, end);
  }
};

#ifdef SMOOTH_QUANT_CUDA
class GemmCuda {
 public:
  explicit GemmCuda(const KernelRequest&) {}
  void run(const Launch& launch) const {
    for (int i : {0, 1})
      if (launch.input(i).stride(0) != launch.input(i).size(1) || launch.input(i).stride(1) != 1)
        throw Error(HEADRACE_UNSUPPORTED, "contiguous operands are wanted");
    if (const int error = smooth_quant_gemm_cuda(params_of(launch), launch.stream()))
      throw Error(HEADRACE_INTERNAL, cuda_error_text(error));
  }
};
#endif

// ---------------------------------------------------------------------------------------------------------------- the pass

bool can_be_quantized(const Node& node) {
  if (!node.is("linear") || node.output().is_output()) return false;
  const Type x = node.input(0).type(), w = node.input(1).type();
  return x.dtype == HEADRACE_F32 && x.rank() == 2 && node.input(1).is_known() && w[1].value() <= kMostProducts &&
         (w.dtype == HEADRACE_F32 || w.dtype == HEADRACE_F16 || w.dtype == HEADRACE_BF16);
}

void quantize_linears(Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (!can_be_quantized(node)) continue;
    graph.insert_before(node);
    const std::vector<Value> x = graph.emit_all("quantize_tensor", {}, {node.input(0)});
    const std::vector<Value> w = graph.emit_all("quantize_tensor", {}, {node.input(1)});  // its rows are output channels
    Value y = graph.emit("smooth_quant_gemm", {x[0], w[0], x[1], w[1]});
    if (node.num_inputs() == 3) y = graph.emit("add", {y, node.input(2)});
    graph.replace_uses(node.output(), y);
    graph.erase(node);
  }
}

}  // namespace

extern "C" uint32_t headrace_plugin_abi_version(void) { return HEADRACE_PLUGIN_ABI; }

extern "C" headrace_status headrace_plugin_init(headrace_context* context, headrace_registrar* registrar) {
  return init(context, registrar, [](Registrar& to) {
    to.describe("smooth_quant", "1.0");
    Op op{"smooth_quant_gemm", {}, 4, infer, reference};
    op.flags = HEADRACE_OP_ROW_WISE;
    to.add(std::move(op));
    to.add_kernel<PanelsVnni>({"smooth_quant_gemm", "panels_vnni", HEADRACE_CPU, HEADRACE_KERNEL_KEEPS_CONSTANTS, PanelsVnni::supports});
    to.add_kernel<Dots>({"smooth_quant_gemm", "dots"});
#ifdef SMOOTH_QUANT_CUDA
    to.add_kernel<GemmCuda>({"smooth_quant_gemm", "tensor_cores", HEADRACE_CUDA});
#endif
    to.add(Pass{"smooth-quant", "canonicalize", "", quantize_linears});
  });
}
