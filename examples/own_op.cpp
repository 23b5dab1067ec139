// An op of your own in a graph, defined by its shape rule and its reference.
//   example_own_op
#include <cstdio>

#include "headrace/functional.h"
#include "headrace/session.h"

using namespace headrace;

// y = min(max(x, -limit), limit)
struct Clamp {
  float limit = 1;
  void fields(auto&& f) { f("limit", limit); }
};

static OpDef clamp_op() {
  return {.name = "clamp",
          .attributes = &attribute_type<Clamp>(),
          .min_inputs = 1,
          .max_inputs = 1,
          .infer = [](const OpCall& call) -> std::vector<TensorType> {
            call.want(call.input(0).dtype == DType::kF32, "float32 is wanted");
            return {call.input(0)};
          },
          .reference =
              [](const OpCall& call, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
                const float limit = call.as<Clamp>().limit;
                for (int64_t i = 0; i < inputs[0].numel(); ++i)
                  outputs[0].as<float>()[i] = std::clamp(inputs[0].as<float>()[i], -limit, limit);
              }};
}

static void run() {
  const auto ops = std::make_shared<OpRegistry>();
  register_ops(*ops);
  ops->add(clamp_op());

  Graph graph(ops);
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("n")}});
  graph.mark_output(graph.emit("clamp", Clamp{.limit = 1.5f}, {x + x}), "y");

  Session session(std::move(graph), nullptr);
  const std::vector<float> values = {-2, -0.5f, 0.25f, 1};
  const auto outputs = session.run({{"x", HostTensor(DType::kF32, {4}, std::span<const float>(values))}});
  for (int i = 0; i < 4; ++i) std::printf("%.2f\n", outputs.at("y").as<float>()[i]);
}

int main() try { run(); } catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
