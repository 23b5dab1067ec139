#include "random_graphs/bounds.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/error.h"
#include "ops/reference.h"
#include "random_graphs/op_table.h"
#include "random_graphs/random.h"

namespace headrace::fuzzing {
namespace {

constexpr double kFloat16Limit = 30000;     // half of the largest
constexpr double kFlushed = 1e-37;          // what is smaller may be 0
constexpr double kMargin = 4;               // of the tolerance over the greatest deviation that was seen
constexpr double kLeastRelative = 1e-6;     // of fp32 results
constexpr double kApproximateError = 1e-6;  // absolute, of approximations near their zeros: see device/cpu/simd_math.inl.h

double unit_roundoff(DType dtype) { return dtype == DType::kF16 ? 0x1p-11 : dtype == DType::kBF16 ? 0x1p-9 : 0x1p-24; }

// Noise on what nodes read. Of a value of 16 bits it is as large as the rounding that a program which keeps it in fp32 leaves out.
class Noise {
 public:
  Noise(const Graph& graph, Products products, uint64_t seed) : products_(products), random_(seed) {
    for (const Node* node : graph.nodes()) {
      const bool exact = passes_values_on(*node) &&
                         std::all_of(node->inputs().begin(), node->inputs().end(), [&](const Value& in) { return is_exact(in); });
      if (!exact)
        for (const Value& out : node->outputs()) rounded_.insert(out);
    }
  }

  HostTensor on_operand(const Node& reader, int index, const HostTensor& value) {
    const DType dtype = value.view().dtype;
    if (!is_float(dtype) || (passes_values_on(reader) && is_exact(reader.input(index)))) return value;
    std::vector<float> values = read_floats(value);
    const double relative = (dtype == DType::kF32 ? 8 : 3) * unit_roundoff(dtype);
    const double absolute = dtype == DType::kF16 ? 0x1p-23 : 0;
    for (float& v : values) v = disturbed(v, relative, absolute);
    if (is_product(reader)) coarsen(values, value.view().rank() ? value.view().sizes[-1] : 1);
    HostTensor noisy(dtype, value.view().sizes);
    write_floats(noisy, values);
    return noisy;
  }

  void on_results(const Node& node, std::vector<HostTensor>& results) {
    if (!is_approximate(node)) return;
    for (HostTensor& result : results) {
      std::vector<float> values = read_floats(result);
      for (float& v : values) v = disturbed(v, 0, kApproximateError);
      write_floats(result, values);
    }
  }

 private:
  bool is_exact(Value value) const { return !is_float(value.dtype()) || !rounded_.count(value); }

  static bool is_product(const Node& node) {
    const std::string& op = node.op().name;
    return op == "linear" || op == "matmul" || op == "conv1d" || op == "conv2d" || op == "scaled_dot_product_attention";
  }

  float disturbed(float v, double relative, double absolute) {
    if (!std::isfinite(v)) return v;
    if (v != 0 && std::fabs(v) < kFlushed && random_.chance(0.5)) return 0;
    return float(v + std::fabs(v) * relative * random_.uniform(-1, 1) + absolute * random_.uniform(-1, 1));
  }

  void coarsen(std::vector<float>& values, int64_t row) {
    if (products_ == Products::kFloat32 || row == 0) return;
    for (size_t begin = 0; begin < values.size(); begin += size_t(row)) {
      float largest = 0;
      for (size_t i = begin; i < begin + size_t(row); ++i)
        largest = std::isfinite(values[i]) && !std::isnan(largest) ? std::max(largest, std::fabs(values[i])) : NAN;
      if (std::isnan(largest) && products_ == Products::kInt8) {  // a block with an infinity has no scale
        std::fill_n(values.begin() + int64_t(begin), row, NAN);
        continue;
      }
      for (size_t i = begin; i < begin + size_t(row); ++i)
        values[i] = disturbed(values[i], 2 * unit_roundoff(DType::kBF16), products_ == Products::kInt8 ? largest / 127 : 0);
    }
  }

  Products products_;
  Random random_;
  std::unordered_set<Value> rounded_;  // not among them: leaves, and what is made of them without arithmetic
};

double deviation(double reference, double other) {
  if (std::isnan(reference) && std::isnan(other)) return 0;
  if (reference == other) return 0;
  const double d = std::fabs(reference - other);
  return std::isfinite(d) ? d : INFINITY;
}

// Every element as a double: integers of fewer than 53 bits exactly.
std::vector<double> numbers(const Tensor& tensor) {
  if (is_float(tensor.dtype)) {
    const std::vector<float> values = read_floats(tensor);
    return {values.begin(), values.end()};
  }
  const std::vector<int64_t> values = read_integers(tensor);
  return {values.begin(), values.end()};
}

bool is_finite(const HostTensor& tensor) {
  if (!is_float(tensor.view().dtype)) return true;
  const std::vector<float> values = read_floats(tensor);
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

double median_of_finite(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + int64_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Products fast_products(const Graph& graph) {
  Products coarsest = Products::kFloat32;
  for (const Value& v : graph.leaves(Leaf::kParameter))
    coarsest = std::max(coarsest, is_block(v.dtype())                                     ? Products::kInt8
                                  : v.dtype() == DType::kBF16 || v.dtype() == DType::kF16 ? Products::kBFloat16
                                                                                          : Products::kFloat32);
  return coarsest;
}

Bounds::Bounds(const Graph& graph, const Tensors& leaves, const SymbolValues& symbols, Products products, int num_trials, uint64_t seed) {
  const auto watch = [&](const Node&, std::span<const HostTensor> operands, std::vector<HostTensor>& results) {
    const bool finite = std::all_of(operands.begin(), operands.end(), is_finite);
    for (const HostTensor& result : results)
      if (result.view().dtype == DType::kF16)
        for (const float v : read_floats(result)) overflows_ = overflows_ || (std::fabs(v) > kFloat16Limit && (finite || std::isfinite(v)));
  };
  Tensors reference = evaluate_reference(graph, leaves, symbols, {.results = watch});
  for (auto& [name, value] : reference) outputs_.emplace(name, Output{value, std::vector<double>(size_t(value.view().numel()))});
  for (int trial = 0; trial < num_trials; ++trial) {
    Noise noise(graph, products, seed + uint64_t(trial));
    const Tensors noisy = evaluate_reference(
        graph, leaves, symbols,
        {[&](const Node& reader, int i, const HostTensor& value) { return noise.on_operand(reader, i, value); },
         [&](const Node& node, std::span<const HostTensor>, std::vector<HostTensor>& results) { noise.on_results(node, results); }});
    for (auto& [name, output] : outputs_) {
      const std::vector<double> expected = numbers(output.value), other = numbers(noisy.at(name));
      for (size_t i = 0; i < expected.size(); ++i) output.tolerance[i] = std::max(output.tolerance[i], deviation(expected[i], other[i]));
    }
  }
  for (auto& [name, output] : outputs_) {
    const DType dtype = output.value.view().dtype;
    const double usual = median_of_finite(output.tolerance);  // a small deviation may have been luck
    const std::vector<double> expected = numbers(output.value);
    for (size_t i = 0; i < expected.size(); ++i) {
      double& tolerance = output.tolerance[i];
      if (!is_float(dtype)) {
        tolerance = tolerance > 0 ? INFINITY : 0;
      } else if (std::isfinite(expected[i])) {
        const double relative = dtype == DType::kF32 ? kLeastRelative : 2 * unit_roundoff(dtype);
        tolerance = kMargin * std::max(tolerance, usual) + relative * std::fabs(expected[i]) + (dtype == DType::kF16 ? 0x1p-23 : kFlushed);
      }
    }
  }
}

std::optional<std::string> Bounds::disagreement(const Tensors& outputs) const {
  for (const auto& [name, expected] : outputs_) {
    const auto found = outputs.find(name);
    if (found == outputs.end()) return fmt::format("output '{}' is missing", name);
    const Tensor &actual = found->second, &wanted = expected.value;
    if (actual.dtype != wanted.dtype || !(actual.sizes == wanted.sizes))
      return fmt::format("output '{}' is {}{}, the reference has {}{}", name, headrace::name(actual.dtype), actual.sizes.to_string(),
                         headrace::name(wanted.dtype), wanted.sizes.to_string());
    if (!is_float(wanted.dtype) && std::none_of(expected.tolerance.begin(), expected.tolerance.end(), [](double t) { return t > 0; })) {
      const std::vector<int64_t> a = read_integers(actual), w = read_integers(wanted);
      const auto at = size_t(std::mismatch(a.begin(), a.end(), w.begin()).first - a.begin());
      if (at < a.size())
        return fmt::format("output '{}': element {} of {} is {}, the reference has {}", name, at, wanted.sizes.to_string(), a[at], w[at]);
      continue;
    }
    const std::vector<double> a = numbers(actual), w = numbers(wanted);
    for (size_t i = 0; i < w.size(); ++i)
      if (std::isfinite(expected.tolerance[i]) && !(deviation(w[i], a[i]) <= expected.tolerance[i]))
        return fmt::format("output '{}': element {} of {} is {}, the reference has {} (to within {:.3g})", name, i,
                           wanted.sizes.to_string(), a[i], w[i], expected.tolerance[i]);
  }
  return outputs.size() == outputs_.size() ? std::nullopt
                                           : std::optional(fmt::format("{} outputs, {} are wanted", outputs.size(), outputs_.size()));
}

double Bounds::undecided() const {
  size_t all = 0, open = 0;
  for (const auto& [name, output] : outputs_) {
    all += output.tolerance.size();
    open += size_t(std::count(output.tolerance.begin(), output.tolerance.end(), INFINITY));
  }
  return all ? double(open) / double(all) : 0;
}

}  // namespace headrace::fuzzing
