#include "debug/kernel_checker.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/blocks.h"
#include "lowering/known_values.h"
#include "ops/reference.h"

namespace headrace {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Difference {
  double absolute = 0, relative = 0;
};

// Of whole numbers that count or choose, none is right but the same.
bool must_be_equal(DType dtype) { return dtype == DType::kI32 || dtype == DType::kI64 || dtype == DType::kBool; }

Difference compare(const Tensor& actual, const Tensor& expected) {
  if (std::memcmp(actual.data, expected.data, size_t(actual.bytes())) == 0) return {};  // most of a cache
  const std::vector<float> a = read_floats(actual), b = read_floats(expected);
  double largest = 0, worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(b[i])) largest = std::max(largest, std::abs(double(b[i])));
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double difference = std::abs(double(a[i]) - double(b[i]));
    worst = std::max(worst, std::isfinite(difference) ? difference : kInfinity);
  }
  if (worst == 0) return {};
  const bool hopeless = worst == kInfinity || largest == 0 || must_be_equal(actual.dtype);
  return {worst, hopeless ? kInfinity : worst / largest};
}

// A contiguous tensor in place of `tensor`, kept by `copies` if it had to be made.
Tensor contiguous(const Tensor& tensor, std::vector<HostTensor>& copies) {
  return tensor.is_contiguous() ? tensor : copies.emplace_back(contiguous_copy(tensor)).view();
}

}  // namespace

// Each about twice the worst seen in the shared models on four instruction sets; docs/debugging.md has the figures.
double check_bound(const Node& node, bool exact) {
  bool block = false, sixteen_bit = false, eight_bit = false;
  for (const std::vector<Value>* values : {&node.inputs(), &node.outputs()})
    for (const Value& v : *values) {
      block |= is_block(v.dtype());
      sixteen_bit |= v.dtype() == DType::kF16 || v.dtype() == DType::kBF16;
      eight_bit |= v.dtype() == DType::kI8 || v.dtype() == DType::kU8;
    }
  if (block && !exact) return 3e-2;           // activations rounded to int8, 32 at a time
  if (sixteen_bit || eight_bit) return 1e-2;  // activations or results rounded to bf16 (8 bits), or results to int8
  return 5e-5;                                // fp32 all the way: sums in another order, exp and the like to a few units in the last place
}

KernelChecker::KernelChecker(const WatchedPlan& plan, std::unique_ptr<ParameterSource> parameters, bool exact)
    : plan_(plan), parameters_(std::move(parameters)), exact_(exact) {
  for (const WatchedPlan::Step& step : plan_.steps) {
    KernelCheck& check = checks_[step.kernel];
    check.kernel = step.kernel;
    check.bound = std::max(check.bound, check_bound(*step.node, exact_));
  }
}

void KernelChecker::before(size_t step, const Launch& launch) {
  const int in_place = plan_.steps[step].node->op().in_place_operand;
  if (in_place >= 0) changed_ = contiguous_copy(launch.inputs[size_t(in_place)]);
}

void KernelChecker::after(size_t step, const Launch& launch) {
  const WatchedPlan::Step& s = plan_.steps[step];
  const OpDef& op = s.node->op();
  if (!op.reference) return;
  KnownValues known(*parameters_);
  std::vector<HostTensor> copies;
  std::vector<Constant> constants;
  copies.reserve(launch.inputs.size());
  std::vector<Tensor> inputs, expected;
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    const Value in = s.node->input(int(i));
    if (int(i) == op.in_place_operand) inputs.push_back(changed_);
    else if (in.is_known_at_load()) inputs.push_back(contiguous(constants.emplace_back(known.get(in)).tensor, copies));
    else inputs.push_back(contiguous(launch.inputs[i], copies));
  }
  std::vector<HostTensor> results;
  for (size_t i = 0; i < launch.outputs.size(); ++i) {
    const bool in_place = i == 0 && op.in_place_operand >= 0;
    results.push_back(in_place ? changed_ : HostTensor(launch.outputs[i].dtype, launch.outputs[i].sizes));
    expected.push_back(results.back());
  }
  const std::vector<TensorType> types = types_of(s.node->inputs());
  op.reference({op, s.node->attributes(), types}, inputs, expected);

  KernelCheck& check = checks_.at(s.kernel);
  ++check.calls;
  for (size_t i = 0; i < launch.outputs.size(); ++i) {
    std::vector<HostTensor> copy;
    const Difference difference = compare(contiguous(launch.outputs[i], copy), expected[i]);
    check.absolute = std::max(check.absolute, difference.absolute);
    if (difference.relative <= check.relative && !check.value.empty()) continue;
    check.relative = difference.relative;
    check.value = s.path;
  }
}

std::vector<KernelCheck> KernelChecker::checks() const {
  std::vector<KernelCheck> checks;
  for (const auto& [kernel, check] : checks_) checks.push_back(check);
  std::ranges::stable_sort(checks, [](const KernelCheck& a, const KernelCheck& b) { return a.relative / a.bound > b.relative / b.bound; });
  return checks;
}

}  // namespace headrace
