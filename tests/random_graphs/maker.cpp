#include "random_graphs/maker.h"

#include <algorithm>
#include <cmath>

#include "core/dtype.h"
#include "core/error.h"
#include "headrace/functional.h"
#include "lowering/symbols.h"
#include "ops/reference.h"

namespace headrace::fuzzing {
namespace {

constexpr int64_t kMostElements = 4096;  // of a value
constexpr double kMostFloat32 = 1e4, kMostFloat16 = 500;
constexpr double kKeepNotFinite = 0.02;  // how often an infinity or NaN that an op has made is kept
constexpr double kNewLeaf = 0.15;        // how often a leaf is made although a value would do
constexpr double kInner = 0.2;           // how often a value from within a recipe can be chosen by others

constexpr std::string_view kSymbols[] = {"n", "m", "t"};
constexpr int64_t kSymbolValues[] = {0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
constexpr int64_t kFixedSizes[] = {1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 12, 16, 16, 17, 24, 32, 32, 33, 64};
constexpr DType kBlockTypes[] = {DType::kQ8_0, DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kIQ4_NL};

bool is_arithmetic(Value v) { return !is_block(v.dtype()); }

bool broadcasts(const Shape& a, const Shape& b) {
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i)
    if (a[-i] != b[-i] && a[-i] != Dim(1) && b[-i] != Dim(1)) return false;
  return true;
}

}  // namespace

Maker::Maker(uint64_t seed) : random(seed), graph(builtin_ops(), "random"), data_seed(random.bits()) {
  for (int64_t i = random.between(0, 2); i > 0; --i) {
    const std::string name(kSymbols[i - 1]);
    symbols[name] = random.pick(kSymbolValues);
    Dim size = Dim::symbol(name);
    sizes_.push_back(size);
    input("x", DType::kF32, {size});  // a run's sizes follow from its inputs
    if (random.chance(0.2)) sizes_.push_back(size * 2);
    if (random.chance(0.1)) sizes_.push_back(size + 1);
  }
  for (int64_t i = random.between(1, 3); i > 0; --i) sizes_.push_back(random.chance(0.01) ? 0 : random.pick(kFixedSizes));
}

Dim Maker::size() { return random.pick(sizes_); }

int64_t Maker::fixed_size() {
  std::vector<int64_t> fixed{random.pick(kFixedSizes)};
  for (const Dim& d : sizes_)
    if (d.is_constant() && d.value() > 0) fixed.push_back(d.value());
  return random.pick(fixed);
}

Shape Maker::shape(int rank) {
  Shape shape;
  int64_t elements = 1;
  for (int i = 0; i < rank; ++i) {
    Dim d = random.chance(0.08) ? Dim(1) : size();
    if (elements * std::max<int64_t>(of(d), 1) > kMostElements / 2) d = 1;
    elements *= std::max<int64_t>(of(d), 1);
    shape.push_back(d);
  }
  return shape;
}

DType Maker::float_type() { return random.pick({DType::kF32, DType::kF32, DType::kF32, DType::kF32, DType::kF16, DType::kBF16}); }

DType Maker::number_type() {
  return random.chance(0.7) ? float_type() : random.pick({DType::kI32, DType::kI64, DType::kI8, DType::kU8, DType::kBool});
}

int64_t Maker::axis(Value x) {
  const int rank = x.shape().rank();
  if (rank == 0) invalid("no axis");
  return random.chance(0.5) ? -random.between(1, rank) : random.below(rank);
}

// ---------------------------------------------------------------------------------------------------------------- leaves

Value Maker::input(const std::string& kind, DType dtype, Shape shape) {
  pool_.push_back(graph.input(kind + std::to_string(num_leaves_++), {dtype, std::move(shape)}));
  return pool_.back();
}

Value Maker::parameter(DType dtype, Shape shape) {
  if (!shape.is_constant()) return input("x", is_block(dtype) ? DType::kF32 : dtype, std::move(shape));
  if (is_block(dtype) && (shape.rank() == 0 || !shape[-1].divided_by(info(dtype).block_elements))) dtype = DType::kF32;
  pool_.push_back(graph.parameter("w" + std::to_string(num_leaves_++), {dtype, std::move(shape)}));
  return pool_.back();
}

Value Maker::weight(Dim out, Dim in) {
  const DType dtype = random.chance(0.3) ? random.pick(kBlockTypes) : float_type();
  return parameter(dtype, {std::move(out), std::move(in)});
}

Value Maker::number(double value, DType dtype) {
  HostTensor tensor(dtype, random.chance(0.8) ? Sizes{} : Sizes{1});
  if (is_float(dtype)) write_floats(tensor, {float(value)});
  else write_integers(tensor, {int64_t(value)});
  return graph.constant(std::move(tensor));
}

Value Maker::leaf(DType dtype, Shape shape) {
  if (shape.is_constant() && random.chance(0.35)) {
    const int64_t elements = shape.numel().value();
    if (elements > 0 && elements <= 8 && random.chance(0.3))
      return pool_.emplace_back(graph.constant(leaf_data("c", dtype, shape.sizes(), random.bits())));
    return parameter(dtype, std::move(shape));
  }
  const char* kind = "x";
  if (is_float(dtype) && random.chance(0.1)) kind = "positive";
  if (dtype == DType::kF32 && random.chance(0.02)) kind = "odd";
  return input(kind, dtype, std::move(shape));
}

// ---------------------------------------------------------------------------------------------------------------- choosing

template <typename Predicate>
Value Maker::choose(const Predicate& fits) {
  if (random.chance(kNewLeaf)) return {};
  std::vector<Value> fitting;
  for (const Value& v : pool_)
    if (fits(v)) fitting.push_back(v);
  if (fitting.empty()) return {};
  const double back = random.uniform();
  return fitting[fitting.size() - 1 - size_t(back * back * double(fitting.size()))];
}

Value Maker::floats(int least_rank) {
  const Value found = choose([&](Value v) { return is_float(v.dtype()) && v.shape().rank() >= least_rank; });
  return found ? found : leaf(float_type(), shape(int(random.between(std::max(least_rank, 1), 3))));
}

Value Maker::numbers() {
  const Value found = choose(is_arithmetic);
  return found ? found : leaf(number_type(), shape(int(random.between(0, 3))));
}

Value Maker::boolean(const Shape& shape) {
  const Value found = choose([&](Value v) { return v.dtype() == DType::kBool && broadcasts(v.shape(), shape); });
  return found ? found : leaf(DType::kBool, shape);
}

Value Maker::like(Value x) {
  const Value found = choose([&](Value v) { return v.type() == x.type(); });
  return found ? found : leaf(x.dtype(), x.shape());
}

Value Maker::beside(Value x) {
  if (random.chance(0.15)) return number(random.chance(0.5) ? double(random.between(-3, 3)) : random.uniform(-2, 2), x.dtype());
  const Value found = choose([&](Value v) { return is_arithmetic(v) && broadcasts(v.shape(), x.shape()); });
  if (found) return found;
  Shape part;  // the last axes of x, some of them 1
  for (int i = int(random.between(0, x.shape().rank())); i < x.shape().rank(); ++i)
    part.push_back(random.chance(0.2) ? Dim(1) : x.shape()[i]);
  return leaf(random.chance(0.7) ? x.dtype() : number_type(), part);
}

Value Maker::within(double low, double high) {
  const Value found = choose([&](Value v) {
    if (!is_float(v.dtype())) return false;
    const Facts f = facts(v);
    return f.finite && f.low >= low && f.high <= high;
  });
  if (found) return found;
  return input(low > -2 ? "positive" : "x", float_type(), shape(int(random.between(1, 3))));
}

// ---------------------------------------------------------------------------------------------------------------- growing

Maker::Facts Maker::facts(Value value) {
  const auto [at, is_new] = held_.try_emplace(value);
  if (is_new)
    at->second = value.leaf() == Leaf::kConstant ? value.constant()
                                                 : leaf_data(value.name(), value.dtype(), evaluate(value.shape(), symbols), data_seed);
  const HostTensor& tensor = at->second;
  Facts facts{.low = INFINITY, .high = -INFINITY};
  for (const float v : read_floats(tensor)) {
    if (!std::isfinite(v)) facts.finite = false;
    else facts.low = std::min(facts.low, double(v)), facts.high = std::max(facts.high, double(v));
  }
  return facts.low <= facts.high ? facts : Facts{.finite = facts.finite};
}

bool Maker::acceptable(const Node& node, const std::vector<HostTensor>& results) {
  const bool made_of_finite = std::all_of(node.inputs().begin(), node.inputs().end(), [&](Value v) { return facts(v).finite; });
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_float(results[i].view().dtype)) continue;
    held_[node.outputs()[i]] = results[i];
    const Facts f = facts(node.outputs()[i]);
    if (!f.finite && made_of_finite && !random.chance(kKeepNotFinite)) return false;
    if (std::max(-f.low, f.high) > (results[i].view().dtype == DType::kF16 ? kMostFloat16 : kMostFloat32)) return false;
  }
  return true;
}

bool Maker::settle(int nodes_before) {
  const std::vector<Node*> nodes = graph.nodes();
  const std::span<Node* const> added(nodes.begin() + nodes_before, nodes.end());
  bool good = !added.empty();
  for (const Node* node : added) {
    if (!good) break;
    for (const Value& out : node->outputs()) {
      int64_t elements = 1;
      for (const Dim& d : out.shape().dims())
        elements = std::min(elements * std::max<int64_t>(of(d), of(d) < 0 ? kMostElements + 1 : 1), kMostElements + 1);
      good = good && elements <= kMostElements;
    }
    if (!good) break;
    std::vector<HostTensor> operands;
    for (const Value& in : node->inputs()) {
      facts(in);  // holds what leaves are
      operands.push_back(held_.at(in));
    }
    const std::vector<HostTensor> results = evaluate_node(*node, operands, symbols);
    good = acceptable(*node, results);
    for (size_t i = 0; i < results.size(); ++i) held_[node->outputs()[i]] = results[i];
  }
  if (good) {
    for (const Node* node : added)
      for (const Value& out : node->outputs())
        if (node == added.back() || random.chance(kInner)) pool_.push_back(out);
    return true;
  }
  for (auto node = added.rbegin(); node != added.rend(); ++node) {
    for (const Value& out : (*node)->outputs()) held_.erase(out);
    graph.erase(**node);
  }
  return false;
}

void Maker::mark_outputs() {
  std::vector<Value> made;
  for (const Node* node : graph.nodes())
    for (const Value& out : node->outputs()) made.push_back(out);
  if (made.empty()) made.push_back(floats());
  std::vector<Value> marked{made.back()};
  for (int64_t i = random.between(0, 2); i > 0; --i)
    marked.push_back(made[made.size() - 1 - size_t(random.below(std::min<int64_t>(int64_t(made.size()), 4)))]);
  while (random.chance(0.3)) marked.push_back(random.pick(made));
  if (random.chance(0.03) && !is_block(pool_[0].dtype())) marked.push_back(pool_[0]);  // a leaf, mostly
  for (const Value& v : marked)
    if (random.chance(0.5) || !v.is_output()) graph.mark_output(v, "y" + std::to_string(graph.outputs().size()));
}

}  // namespace headrace::fuzzing
