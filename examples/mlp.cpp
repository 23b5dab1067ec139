// A perceptron of your own, written with layers: built, compiled and run on batches of any size.
//   example_mlp
#include <cmath>
#include <cstdio>

#include "headrace/build.h"
#include "headrace/nn.h"
#include "headrace/session.h"
#include "headrace/weights.h"

using namespace headrace;

// Digits of 8 x 8 pixels to ten scores. `batch` is a symbol: how many digits come in a run is not known before.
static Graph classifier() {
  Graph graph(builtin_ops(), "classifier");
  const nn::Scope root(graph);
  const Value pixels = graph.input("pixels", {DType::kF32, {Dim::symbol("batch"), 8, 8}});
  Value x = flatten(pixels, 1) / 16 - 0.5;
  x = relu(nn::linear(root / "hidden", x, 32, {.bias = true}));
  x = nn::linear(root / "scores", x, 10, {.bias = true});
  graph.mark_output(softmax(x, -1), "probabilities");
  graph.mark_output(argmax(x, -1), "digit");
  return graph;
}

// The same in plain loops, for one digit.
static std::vector<float> expected(const WeightSource& weights, const float* pixels) {
  const auto layer = [&](const char* name, const std::vector<float>& x, size_t outs) {
    const float* w = weights.read(std::string(name) + ".weight").as<float>();
    const float* b = weights.read(std::string(name) + ".bias").as<float>();
    std::vector<float> y(b, b + outs);
    for (size_t o = 0; o < outs; ++o)
      for (size_t i = 0; i < x.size(); ++i) y[o] += x[i] * w[o * x.size() + i];
    return y;
  };
  std::vector<float> x(64);
  for (size_t i = 0; i < 64; ++i) x[i] = pixels[i] / 16 - 0.5f;
  x = layer("hidden", x, 32);
  for (float& v : x) v = std::max(v, 0.0f);
  x = layer("scores", x, 10);
  float sum = 0;
  for (float& v : x) sum += v = std::exp(v);
  for (float& v : x) v /= sum;
  return x;
}

static int run() {
  // Weights of chance here; file_weights("classifier.safetensors") brings trained ones, under the names that the scopes give.
  const std::shared_ptr<const WeightSource> weights = random_weights(classifier(), 1);
  Session session(classifier(), weights, {.exact = true});
  for (int64_t batch : {1, 3, 50}) {
    HostTensor pixels(DType::kF32, {batch, 8, 8});
    for (int64_t i = 0; i < batch * 64; ++i) pixels.as<float>()[i] = float(i * 37 % 17);
    const std::map<std::string, HostTensor> outputs = session.run({{"pixels", pixels}});
    const HostTensor& probabilities = outputs.at("probabilities");
    float worst = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const std::vector<float> right = expected(*weights, pixels.as<float>() + b * 64);
      for (int64_t i = 0; i < 10; ++i) worst = std::max(worst, std::abs(probabilities.as<float>()[b * 10 + i] - right[size_t(i)]));
    }
    std::printf("batch of %d: the first is a %d, %.0e off plain loops\n", int(batch), int(outputs.at("digit").as<int64_t>()[0]), worst);
    if (!(worst < 1e-5f)) return 1;
  }
  return 0;
}

int main() try { return run(); } catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
