#include "random_graphs/check.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/error.h"
#include "headrace/weights.h"
#include "random_graphs/bounds.h"
#include "random_graphs/random.h"

namespace headrace::fuzzing {
namespace {

constexpr int kTrials = 3;
constexpr int kTrialsToConfirm = 40;
constexpr double kOtherSizes = 0.25;  // how often a program also runs on other sizes

// What a graph's outputs are at given sizes. Bounds are found when they are asked for.
class Expectation {
 public:
  Expectation(const Graph& graph, SymbolValues symbols, uint64_t seed) : graph_(graph), symbols_(std::move(symbols)), seed_(seed) {
    check_symbols();
    inputs = leaf_data(graph, Leaf::kInput, symbols_, seed);
    leaves_ = leaf_data(graph, Leaf::kParameter, symbols_, seed);
    leaves_.insert(inputs.begin(), inputs.end());
  }

  const Bounds& bounds(bool exact) {
    std::optional<Bounds>& bounds = exact ? exact_ : fast_;
    if (!bounds) bounds = find(exact, kTrials, 1);
    return *bounds;
  }

  std::optional<std::string> disagreement(const Tensors& outputs, bool exact) {
    std::optional<std::string> found = bounds(exact).disagreement(outputs);
    if (found) found = find(exact, kTrialsToConfirm, 1000).disagreement(outputs);
    return found;
  }

  Tensors inputs;

 private:
  // A symbol that no input has has no value when the graph is run.
  void check_symbols() const {
    std::vector<std::string> given, used;
    for (const Value& v : graph_.leaves(Leaf::kInput))
      for (const Dim& d : v.shape().dims()) d.collect_symbols(given);
    for (const Node* node : graph_.nodes())
      for (const Value& v : node->outputs())
        for (const Dim& d : v.shape().dims()) d.collect_symbols(used);
    for (const std::string& symbol : used)
      if (std::find(given.begin(), given.end(), symbol) == given.end()) invalid("no input says what '{}' is", symbol);
  }

  Bounds find(bool exact, int trials, uint64_t seed) const {
    return Bounds(graph_, leaves_, symbols_, exact ? Products::kFloat32 : fast_products(graph_), trials, seed);
  }

  const Graph& graph_;
  SymbolValues symbols_;
  uint64_t seed_;
  Tensors leaves_;
  std::optional<Bounds> exact_, fast_;
};

std::map<std::string, Tensor> views_of(const Tensors& tensors) { return {tensors.begin(), tensors.end()}; }

bool same_bytes(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.second.view().bytes() == y.second.view().bytes() &&
           std::memcmp(x.second.view().data, y.second.view().data, size_t(x.second.view().bytes())) == 0;
  });
}

std::optional<std::string> round_trip_fault(const Graph& graph) {
  const std::string text = graph.to_text();
  const std::string again = Graph::parse(text, graph.shared_ops()).to_text();
  if (text == again) return std::nullopt;
  return fmt::format("the graph printed, parsed and printed again is another:\n{}{}", text, again);
}

// What the outputs are made of, whatever the order and the names of nodes. Nodes are numbered as they are met on the way from the outputs.
std::string structure(const Graph& graph) {
  std::unordered_map<const Node*, size_t> numbers;
  std::vector<const Node*> met;
  std::string text;
  const auto term = [&](Value v) {
    if (!v.producer()) return v.leaf() == Leaf::kConstant ? "constant " + v.type().to_string() : v.name();
    const auto [at, is_new] = numbers.emplace(v.producer(), met.size());
    if (is_new) met.push_back(v.producer());
    return fmt::format("#{}.{}", at->second, v.output_index());
  };
  for (const Graph::Output& o : graph.outputs()) text += fmt::format("return {}\n", term(o.value));
  for (size_t i = 0; i < met.size(); ++i) {
    const Node* node = met[i];
    text += fmt::format("#{} = {}", i, node->op().name);
    for (const Value& in : node->inputs()) text += " " + term(in);
    for (const Field& f : node->attributes().changed_fields()) text += fmt::format(" {}={}", f.name, f.text);
    text += "\n";
  }
  return text;
}

// Compiles; says what is wrong with the result as a graph.
std::optional<std::string> compile_fault(Graph graph, const CompileOptions& passes) {
  compile(graph, passes);
  if (auto fault = round_trip_fault(graph)) return fault;
  Graph twice = graph.clone();
  compile(twice, passes);
  // Without some passes, others may find more to do the next time.
  if (passes.skip_passes.empty() && structure(graph) != structure(twice))
    return fmt::format("compiling a second time changes the graph:\n{}{}", graph.to_text(), twice.to_text());
  return std::nullopt;
}

std::optional<std::string> fault(const Case& graph, const Variant& variant, Expectation& first, Expectation* other) {
  try {
    if (variant.session.compile)
      if (auto found = compile_fault(graph.graph.clone(), variant.session.passes)) return found;
    const SessionOptions& options = variant.session;
    Session session(graph.graph.clone(), memory_weights(leaf_data(graph.graph, Leaf::kParameter, graph.symbols, graph.data_seed)), options);
    const Tensors outputs = session.run(views_of(first.inputs));
    if (auto found = first.disagreement(outputs, options.exact)) return found;
    if (!other) return std::nullopt;
    if (auto found = other->disagreement(session.run(views_of(other->inputs)), options.exact)) return "at other sizes: " + *found;
    if (!same_bytes(session.run(views_of(first.inputs)), outputs)) return "a run after one on other sizes gives other results";
    return std::nullopt;
  } catch (const Error& e) {
    return std::string("error: ") + e.what();
  }
}

Variant variant(std::string name, CompileOptions passes, bool exact, int threads) {
  return {std::move(name), {.num_threads = threads, .exact = exact, .passes = std::move(passes)}};
}

}  // namespace

std::vector<Variant> usual_variants() {
  return {variant("exact, 2 threads", {}, true, 2), variant("exact, 1 thread", {}, true, 1), variant("fast, 2 threads", {}, false, 2)};
}

std::vector<Variant> some_variants(uint64_t seed) {
  Random random(seed);
  std::vector<Variant> variants;
  const std::vector<std::string> passes = pass_names();
  CompileOptions options;
  switch (random.below(3)) {
    case 0:
      variants.push_back(variant("as it stands", {}, random.chance(0.7), 2));
      variants.back().session.compile = false;
      break;
    case 1: {
      const std::string& alone = random.pick(passes);
      for (const std::string& pass : passes)
        if (pass != alone) options.skip_passes.push_back(pass);
      variants.push_back(variant(alone + " alone", options, true, 2));
      break;
    }
    default:
      for (const std::string& pass : passes)
        if (random.chance(0.4)) options.skip_passes.push_back(pass);
      variants.push_back(variant(fmt::format("without {}", fmt::join(options.skip_passes, ", ")), options, random.chance(0.7), 2));
  }
  return variants;
}

Findings check(const Case& graph, const std::vector<Variant>& variants) {
  Findings findings;
  std::optional<Expectation> first, other;
  try {
    first.emplace(graph.graph, graph.symbols, graph.data_seed);
    if (first->bounds(true).overflows()) return {.decided = false};
    findings.undecided = first->bounds(true).undecided();
  } catch (const Error& e) {
    return {.decided = false};
  }
  Random random(graph.data_seed);
  if (!graph.symbols.empty() && random.chance(kOtherSizes)) {
    try {
      SymbolValues symbols = graph.symbols;
      for (auto& [name, value] : symbols) value = random.pick({1, 2, 3, 6, 9, 17});
      other.emplace(graph.graph, symbols, graph.data_seed);
      if (other->bounds(true).overflows()) other.reset();
    } catch (const Error&) {
      other.reset();  // a slice that begins beyond the end
    }
  }
  if (auto found = round_trip_fault(graph.graph)) return {.failure = Failure{"text", *found}};
  for (const Variant& v : variants)
    if (auto found = fault(graph, v, *first, other ? &*other : nullptr)) return {.failure = Failure{v.name, *found}};
  return findings;
}

}  // namespace headrace::fuzzing
