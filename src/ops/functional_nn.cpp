// Neural networks, as torch.nn.functional has them.
#include <cmath>

#include "ops/conv/conv.h"
#include "ops/function_call.h"
#include "ops/group_norm/group_norm.h"
#include "ops/pool/pool.h"
#include "ops/quantize/quantize.h"

namespace headrace {
namespace {

// Operands up to the last that is given.
std::vector<Operand> given(std::vector<Operand> operands) {
  while (!operands.empty() && !operands.back().value && operands.back().number.index() == 0) operands.pop_back();
  return operands;
}

Value conv(std::string_view op, std::vector<Operand> operands, const ConvOptions& o) {
  return emit(op, Conv{.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups}, given(std::move(operands)));
}

Value max_pool(std::string_view op, const Operand& x, std::vector<int64_t> kernel_size, const PoolOptions& o) {
  const std::vector<int64_t>& stride = o.stride.empty() ? kernel_size : o.stride;
  return emit(op, MaxPool{.kernel_size = kernel_size, .stride = stride, .padding = o.padding, .dilation = o.dilation}, {x});
}

Value avg_pool(std::string_view op, const Operand& x, std::vector<int64_t> kernel_size, const PoolOptions& o) {
  if (o.dilation != std::vector<int64_t>{1}) FunctionCall{op, x}.reject("a mean has no dilation");
  const std::vector<int64_t>& stride = o.stride.empty() ? kernel_size : o.stride;
  return emit(op, AvgPool{.kernel_size = kernel_size, .stride = stride, .padding = o.padding, .count_include_pad = o.count_include_pad},
              {x});
}

// Means over equal parts of the last axes.
Value adaptive_avg_pool(std::string_view function, std::string_view op, const Operand& x, int axes,
                        const std::vector<int64_t>& output_size) {
  const FunctionCall call{function, x};
  if (call.rank() < axes + 1) call.reject("x is wanted with channels and {} more axes", axes);
  if (int(output_size.size()) != axes && output_size.size() != 1)
    call.reject("output_size is wanted as one number, or as one for each axis");
  std::vector<int64_t> kernel_size, means;
  for (int axis = 0; axis < axes; ++axis) {
    const Dim& size = call.shape()[axis - axes];
    const int64_t wanted = output_size.size() == 1 ? output_size[0] : output_size[size_t(axis)];
    if (wanted == 1) means.push_back(axis - axes);
    if (!size.is_constant()) continue;
    if (wanted < 1 || size.value() % wanted != 0) call.reject("{} elements do not make {} equal parts", size.value(), wanted);
    kernel_size.push_back(size.value() / wanted);
  }
  if (int(means.size()) == axes) return mean(x, means, true);
  if (int(kernel_size.size()) < axes) call.reject("the sizes are wanted as numbers when output_size is not 1");
  return avg_pool(op, x, kernel_size, {});
}

// Numbers are no scales of x's type: they are f32, and i32.
std::vector<Operand> scaled(std::string_view op, const Operand& x, const Operand& scale, const Operand& zero_point) {
  const auto typed = [&](const Operand& o, DType dtype) {
    return o.number.index() > 0 && x.value ? Operand(number_constant(x.value.graph(), op, o, dtype), o.where) : o;
  };
  return given({x, typed(scale, DType::kF32), typed(zero_point, DType::kI32)});
}

}  // namespace

Value conv1d(Operand x, Operand weight, Operand bias, const ConvOptions& options) { return conv("conv1d", {x, weight, bias}, options); }
Value conv2d(Operand x, Operand weight, Operand bias, const ConvOptions& options) { return conv("conv2d", {x, weight, bias}, options); }

Value max_pool1d(Operand x, std::vector<int64_t> kernel_size, const PoolOptions& o) {
  return max_pool("max_pool1d", x, std::move(kernel_size), o);
}
Value max_pool2d(Operand x, std::vector<int64_t> kernel_size, const PoolOptions& o) {
  return max_pool("max_pool2d", x, std::move(kernel_size), o);
}
Value avg_pool1d(Operand x, std::vector<int64_t> kernel_size, const PoolOptions& o) {
  return avg_pool("avg_pool1d", x, std::move(kernel_size), o);
}
Value avg_pool2d(Operand x, std::vector<int64_t> kernel_size, const PoolOptions& o) {
  return avg_pool("avg_pool2d", x, std::move(kernel_size), o);
}
Value adaptive_avg_pool1d(Operand x, int64_t output_size) {
  return adaptive_avg_pool("adaptive_avg_pool1d", "avg_pool1d", x, 1, {output_size});
}
Value adaptive_avg_pool2d(Operand x, std::vector<int64_t> output_size) {
  return adaptive_avg_pool("adaptive_avg_pool2d", "avg_pool2d", x, 2, output_size);
}

Value group_norm(Operand x, int64_t num_groups, Operand weight, Operand bias, float eps) {
  return emit("group_norm", GroupNorm{.groups = num_groups, .eps = eps}, given({x, weight, bias}));
}

Value quantize(Operand x, Operand scale, Operand zero_point, const QuantizeOptions& o) {
  return emit("quantize", Quantize{.dtype = o.dtype, .axis = o.axis}, scaled("quantize", x, scale, zero_point));
}
Value dequantize(Operand q, Operand scale, Operand zero_point, const DequantizeOptions& o) {
  return emit("dequantize", Dequantize{.dtype = o.dtype, .axis = o.axis}, scaled("dequantize", q, scale, zero_point));
}

Value scaled_dot_product_attention(Operand q, Operand k, Operand v, const ScaledDotProductOptions& options) {
  const FunctionCall call{"scaled_dot_product_attention", q}, of_keys{call.function, k}, of_values{call.function, v};
  const std::source_location& where = q.where;
  if (call.rank() < 2 || of_keys.rank() < 2 || of_values.rank() < 2) call.reject("q, k and v are wanted as (..., tokens, width)");
  if (options.mask && options.is_causal) call.reject("a mask and is_causal are wanted one at a time");
  if (options.enable_gqa) {
    if (call.rank() < 3 || of_keys.rank() < 3 || of_values.rank() < 3) call.reject("with enable_gqa heads are wanted before tokens");
    const auto repeats = [&](const FunctionCall& fewer) {
      const int64_t heads = call.number(call.shape()[-3], "the number of heads"),
                    own = call.number(fewer.shape()[-3], "the number of heads");
      if (own < 1 || heads % own != 0) call.reject("{} heads of q do not share {} heads evenly", heads, own);
      return heads / own;
    };
    if (const int64_t n = repeats(of_keys); n > 1) k = {repeat_interleave(k, n, -3), where};
    if (const int64_t n = repeats(of_values); n > 1) v = {repeat_interleave(v, n, -3), where};
  }
  const double scale = options.scale ? *options.scale : 1 / std::sqrt(double(call.number(call.shape()[-1], "the width of a head")));
  Value scores = mul({matmul(q, {transpose(k, -2, -1), where}), where}, {scale, where});
  const float nothing = -std::numeric_limits<float>::infinity();
  Value seen = options.mask;
  if (options.is_causal) {
    Graph& graph = q.value.graph();
    const Value queries = unsqueeze({arange(graph, call.shape()[-2], where), where}, 1);
    seen = ge({queries, where}, {arange(graph, k.value.shape()[-2], where), where});
  }
  if (seen && seen.dtype() == DType::kBool) scores = headrace::where({seen, where}, {scores, where}, {nothing, where});
  else if (seen) scores = add({scores, where}, {seen, where});
  return matmul({softmax({scores, where}, -1), where}, v);
}

}  // namespace headrace
