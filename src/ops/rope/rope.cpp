#include "ops/rope/rope.h"

#include <cmath>

#include "ops/reference.h"

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

}  // namespace

void register_rope(OpRegistry& ops) {
  ops.add({.name = "rope_table",
           .attributes = &attribute_type<RopeTable>(),
           .min_inputs = 2,
           .max_inputs = 4,
           .infer = infer_table,
           .reference = reference_table});
  ops.add(
      {.name = "rope", .attributes = &attribute_type<Rope>(), .min_inputs = 2, .max_inputs = 2, .infer = infer, .reference = reference});
}

}  // namespace headrace
