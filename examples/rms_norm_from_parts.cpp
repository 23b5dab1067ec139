// A norm written from plain functions is the norm: the compiler recognizes it, and it runs as the built-in one does.
//   example_rms_norm_from_parts
#include <cmath>
#include <cstdio>

#include "headrace/functional.h"
#include "headrace/session.h"
#include "headrace/weights.h"

using namespace headrace;

static Value my_rms_norm(Value x, Value weight, double eps) {
  const Value scale = rsqrt(mean(pow(x, 2), -1, true) + eps);
  return x * scale * weight;
}

static Graph normed(int64_t width) {
  Graph graph(builtin_ops(), "normed");
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("rows"), width}});
  const Value weight = graph.parameter("weight", {DType::kF32, {width}});
  graph.mark_output(my_rms_norm(x, weight, 1e-5), "y");
  return graph;
}

static int run() {
  constexpr int64_t kRows = 3, kWidth = 256;
  HostTensor x(DType::kF32, {kRows, kWidth}), weight(DType::kF32, {kWidth});
  for (int64_t i = 0; i < kRows * kWidth; ++i) x.as<float>()[i] = float(i * 29 % 31) - 15;
  for (int64_t i = 0; i < kWidth; ++i) weight.as<float>()[i] = 1 + float(i % 5) / 10;

  Session session(normed(kWidth), memory_weights({{"weight", weight}}));
  std::printf("%s", session.program().to_text().c_str());
  const HostTensor y = session.run({{"x", x}}).at("y");
  float worst = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const float *in = x.as<float>() + row * kWidth, *out = y.as<float>() + row * kWidth;
    double sum = 0;
    for (int64_t i = 0; i < kWidth; ++i) sum += double(in[i]) * in[i];
    const double scale = 1 / std::sqrt(sum / kWidth + 1e-5);
    for (int64_t i = 0; i < kWidth; ++i) worst = std::max(worst, std::abs(out[i] - float(in[i] * scale * weight.as<float>()[i])));
  }
  std::printf("%.0e off plain loops\n", worst);
  return worst < 1e-5f && session.program().num_nodes() == 1 ? 0 : 1;
}

int main() try { return run(); } catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
