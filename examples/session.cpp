// Session: any network, written as a graph and run on named tensors. Needs no model.
//   example_session
#include "headrace/session.h"

#include <cstdio>
#include <numeric>

#include "headrace/functional.h"
#include "headrace/weights.h"

using namespace headrace;

// Two layers: y = softmax(relu(x W1' + b1) W2' + b2). `n`, the number of rows, is not known before a run.
static Graph perceptron(int64_t in, int64_t hidden, int64_t out) {
  Graph graph(builtin_ops(), "perceptron");
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("n"), in}});
  const Value w1 = graph.parameter("fc1.weight", {DType::kF32, {hidden, in}});
  const Value b1 = graph.parameter("fc1.bias", {DType::kF32, {hidden}});
  const Value w2 = graph.parameter("fc2.weight", {DType::kF32, {out, hidden}});
  const Value b2 = graph.parameter("fc2.bias", {DType::kF32, {out}});
  const Value h = relu(linear(x, w1, b1));
  graph.mark_output(h, "hidden");  // inner values can be looked at, too
  graph.mark_output(softmax(linear(h, w2, b2), -1), "y");
  return graph;
}

// A tensor with the values begin, begin + step, ...
static HostTensor ramp(const Sizes& sizes, float begin, float step) {
  HostTensor tensor(DType::kF32, sizes);
  for (int64_t i = 0; i < sizes.numel(); ++i) tensor.as<float>()[i] = begin + step * float(i);
  return tensor;
}

static void print(const char* name, const Tensor& t) {
  std::printf("%s %s:", name, t.sizes.to_string().c_str());
  for (int64_t i = 0; i < t.numel(); ++i) std::printf(" %.4f", t.as<float>()[i]);
  std::printf("\n");
}

static void run() {
  // Weights by name: from memory here; file_weights("mlp.safetensors") takes them from a file.
  const std::shared_ptr<const WeightSource> weights = memory_weights({{"fc1.weight", ramp({4, 3}, -0.5f, 0.1f)},
                                                                      {"fc1.bias", ramp({4}, 0, 0.25f)},
                                                                      {"fc2.weight", ramp({2, 4}, 1, -0.25f)},
                                                                      {"fc2.bias", ramp({2}, 0, 0.5f)}});
  Session session(perceptron(3, 4, 2), weights);
  for (int64_t rows : {1, 3}) {
    const HostTensor x = ramp({rows, 3}, 1, 1);
    const std::map<std::string, HostTensor> outputs = session.run({{"x", x}});
    print("hidden", outputs.at("hidden"));
    print("y", outputs.at("y"));
  }

  // What runs is the graph after all passes. Graphs print to text, and text parses back to the same graph.
  const std::string text = session.program().to_text();
  std::printf("%s", text.c_str());
  const Graph back = Graph::parse(text, builtin_ops());
  std::printf("%s\n", back.to_text() == text ? "the same when parsed" : "not the same when parsed");

  // Every missing or misshapen weight is listed in one error.
  try {
    Session(perceptron(3, 4, 2), memory_weights({{"fc1.weight", HostTensor(DType::kF32, {4, 2})}}));
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
  }
}

int main() try { run(); } catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
