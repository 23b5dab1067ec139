#include "ops/rope/rope.h"

#include <cmath>

#include "ops/concat/concat.h"
#include "ops/reference.h"
#include "ops/spelling.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

std::vector<TensorType> infer_table(const OpCall& call) {
  const TensorType &positions = call.input(0), &frequencies = call.input(1);
  call.want(positions.dtype == DType::kI32 && positions.shape.rank() == 1, "positions are wanted as i32 (tokens)");
  call.want(frequencies.dtype == DType::kF32 && frequencies.shape.rank() == 1, "inverse frequencies are wanted as f32 (rotary_dim / 2)");
  call.want(call.inputs.size() != 3, "two or four inputs are wanted");
  if (call.inputs.size() == 4) {
    call.want(call.input(2) == positions, "the reach is wanted as i32 (tokens)");
    call.want(call.input(3) == frequencies, "the long inverse frequencies are wanted as f32 (rotary_dim / 2)");
  }
  return {{DType::kF32, {positions.shape[0], frequencies.shape[0] * 2}}};
}

void reference_table(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::vector<int64_t> positions = read_integers(in[0]);
  const std::vector<float> frequencies = read_floats(in[1]), long_ones = in.size() == 4 ? read_floats(in[3]) : frequencies;
  const std::vector<int64_t> reach = in.size() == 4 ? read_integers(in[2]) : positions;
  const auto& rope = call.as<RopeTable>();
  std::vector<float> table;
  for (size_t token = 0; token < positions.size(); ++token)
    for (bool sine : {false, true})
      for (float frequency : reach[token] > rope.longest_short ? long_ones : frequencies) {
        const double angle = float(positions[token]) * frequency;  // rounded to fp32
        table.push_back(float(sine ? std::sin(angle) : std::cos(angle)) * rope.scale);
      }
  write_floats(out[0], table);
}

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &x = call.input(0), &table = call.input(1);
  const int64_t head_dim = call.as<Rope>().head_dim;
  call.want(is_float(x.dtype) && x.shape.rank() == 2, "x is wanted as floats (tokens, heads * head_dim)");
  call.want(head_dim > 0 && x.shape[1].divided_by(head_dim),
            fmt::format("x's last axis is wanted as a multiple of head_dim, {}", head_dim));
  call.want(table.dtype == DType::kF32 && table.shape.rank() == 2 && table.shape[0] == x.shape[0] && table.shape[1].is_constant(),
            "the table is wanted as f32 (tokens, rotary_dim)");
  const int64_t rotary_dim = table.shape[1].value();
  call.want(rotary_dim % 2 == 0 && rotary_dim <= head_dim, fmt::format("rotary_dim is wanted even and at most head_dim, {}", head_dim));
  return {x};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const Rope& rope = call.as<Rope>();
  std::vector<float> x = read_floats(in[0]);
  const std::vector<float> table = read_floats(in[1]);
  const int64_t width = in[0].sizes[1], rotary_dim = in[1].sizes[1], half = rotary_dim / 2;
  for (int64_t token = 0; token < in[0].sizes[0]; ++token)
    for (int64_t head = 0; head < width / rope.head_dim; ++head)
      for (int64_t i = 0; i < half; ++i) {
        float* h = &x[size_t(token * width + head * rope.head_dim)];
        const float cosine = table[size_t(token * rotary_dim + i)], sine = table[size_t(token * rotary_dim + half + i)];
        float &a = h[rope.interleaved ? 2 * i : i], &b = h[rope.interleaved ? 2 * i + 1 : i + half];
        const float turned = a * cosine - b * sine;
        b = b * cosine + a * sine;
        a = turned;
      }
  write_floats(out[0], x);
}

// Pairs of slices, turned and put together again.
std::vector<Value> decompose(Graph& graph, const Node& node, std::span<const Value> in) {
  const auto& rope = node.attributes_as<Rope>();
  const Shape& flat = in[0].shape();
  const int64_t rotary = in[1].shape()[1].value(), half = rotary / 2, heads = flat[1].value() / rope.head_dim;
  const auto part = [&](Value v, int64_t begin, int64_t end) {
    return graph.emit("slice", Slice{.axis = -1, .begin = begin, .end = end}, {v});
  };
  const auto view = [&](Value v, Shape shape) { return graph.emit("view", View{.shape = std::move(shape)}, {v}); };
  const Value x = cast_to(graph, view(in[0], {flat[0], heads, rope.head_dim}), DType::kF32);
  const Shape angles = rope.interleaved ? Shape{flat[0], 1, half, 1} : Shape{flat[0], 1, half};
  const Value cosine = view(part(in[1], 0, half), angles), sine = view(part(in[1], half, rotary), angles);
  Value a, b;
  if (rope.interleaved) {
    const Value pairs = view(rotary == rope.head_dim ? x : part(x, 0, rotary), {flat[0], heads, half, 2});
    a = part(pairs, 0, 1), b = part(pairs, 1, 2);
  } else {
    a = part(x, 0, half), b = part(x, half, rotary);
  }
  const auto mul = [&](Value u, Value v) { return graph.emit("mul", {u, v}); };
  std::vector<Value> parts{graph.emit("sub", {mul(a, cosine), mul(b, sine)}), graph.emit("add", {mul(b, cosine), mul(a, sine)})};
  if (rope.interleaved) parts = {view(graph.emit("concat", Concat{.axis = -1}, parts), {flat[0], heads, rotary})};
  if (rotary < rope.head_dim) parts.push_back(part(x, rotary, rope.head_dim));
  const Value y = parts.size() == 1 ? parts[0] : graph.emit("concat", Concat{.axis = -1}, std::move(parts));
  return {view(cast_to(graph, y, in[0].dtype()), flat)};
}

}  // namespace

void register_rope(OpRegistry& ops) {
  ops.add({.name = "rope_table",
           .attributes = &attribute_type<RopeTable>(),
           .min_inputs = 2,
           .max_inputs = 4,
           .infer = infer_table,
           .reference = reference_table});
  ops.add({.name = "rope",
           .attributes = &attribute_type<Rope>(),
           .min_inputs = 2,
           .max_inputs = 2,
           .infer = infer,
           .reference = reference,
           .decompose = decompose});
}

}  // namespace headrace
