// Bad graphs and bad calls give errors that say what is wrong, and never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/dtype.h"
#include "core/test_support.h"
#include "headrace/functional.h"
#include "headrace/weights.h"
#include "lowering/symbols.h"
#include "random_graphs/check.h"
#include "random_graphs/leaf_data.h"
#include "random_graphs/mutate_text.h"

namespace headrace::fuzzing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMostBytes = 1 << 20;

bool is_small(const TensorType& type, const SymbolValues& symbols) {
  const std::optional<int64_t> bytes = checked_bytes(type.dtype, evaluate(type.shape, symbols));
  return bytes && *bytes <= kMostBytes;
}

// Whether all values are of sizes that can be tried.
bool is_small(const Case& graph) {
  for (const Leaf kind : {Leaf::kInput, Leaf::kParameter, Leaf::kConstant, Leaf::kState})
    for (const Value& v : graph.graph.leaves(kind))
      if (!is_small(v.type(), graph.symbols)) return false;
  for (const Node* node : graph.graph.nodes())
    for (const Value& v : node->outputs())
      if (!is_small(v.type(), graph.symbols)) return false;
  return true;
}

void compile_and_run(const Case& graph) {
  Graph compiled = graph.graph.clone();
  compile(compiled);
  if (!is_small(graph)) return;
  const auto data = [&](Leaf kind) { return leaf_data(graph.graph, kind, graph.symbols, graph.data_seed); };
  Session session(graph.graph.clone(), memory_weights(data(Leaf::kParameter)), {.num_threads = 1});
  const Tensors inputs = data(Leaf::kInput);
  session.run({inputs.begin(), inputs.end()});
}

TEST(BadInput, AMutatedTextIsAGraphThatCompilesAndRunsOrAnError) {
  int parsed = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    const std::string original = random_case(seed % 300).to_text();
    std::string text = original;
    for (int64_t n = random.between(1, 3); n > 0; --n) text = mutated(text, random);
    try {
      const Case graph = Case::parse(text);
      const std::string again = graph.graph.to_text();
      ASSERT_EQ(Graph::parse(again, builtin_ops()).to_text(), again) << seed;
      ++parsed;
      compile_and_run(graph);
    } catch (const Error& e) {
      ASSERT_NE(e.code, ErrorCode::kInternal) << "mutation " << seed << ": " << e.what() << "\n" << text;
      ++refused;
    }
  }
  EXPECT_GT(parsed, 200) << "texts that are graphs";
  EXPECT_GT(refused, 400) << "texts that are none";
}

// y = relu(relu(x) + w), w a parameter.
Graph small_graph() {
  Graph graph(builtin_ops());
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("n"), 4}}), other = graph.input("other", {DType::kF32, {Dim::symbol("n")}});
  const Value w = graph.parameter("w", {DType::kF32, {4}});
  graph.mark_output(relu(relu(x) + w), "y");
  graph.mark_output(relu(other), "z");
  return graph;
}
std::shared_ptr<const WeightSource> small_weights(DType dtype = DType::kF32, const Sizes& sizes = {4}) {
  return memory_weights({{"w", HostTensor(dtype, sizes)}});
}

TEST(BadInput, NoCycleCanBeMade) {
  Graph graph = small_graph();
  Node* first = graph.nodes()[0];
  EXPECT_THAT(test::error_of([&] { graph.set_input(*first, 0, graph.outputs()[0].value); }), HasSubstr("it is produced later"));
  EXPECT_THAT(test::error_of([&] { graph.replace_all_uses(first->input(0), first->output()); }), HasSubstr("produced by that node itself"));
  EXPECT_NO_THROW(Session(std::move(graph), small_weights()));
}

TEST(BadInput, TypesThatWereNotInferredAnewAreAnErrorCompiledOrNot) {
  for (const bool compile : {true, false}) {
    Graph graph = small_graph();
    graph.set_type(graph.find(Leaf::kInput, "other"), {DType::kF16, {Dim::symbol("n")}});
    EXPECT_THAT(test::error_of([&] { Session(std::move(graph), small_weights(), {.compile = compile}); }), HasSubstr("do not follow"));
  }
}

TEST(BadInput, ValuesOfAnotherGraphAreRefused) {
  Graph graph = small_graph(), other = small_graph();
  const Value mine = graph.find(Leaf::kInput, "x"), foreign = other.find(Leaf::kInput, "x");
  EXPECT_THAT(test::error_of([&] { add(mine, foreign); }), HasSubstr("belongs to another graph"));
  EXPECT_THAT(test::error_of([&] { graph.mark_output(foreign, "other"); }), HasSubstr("belongs to another graph"));
  EXPECT_THAT(test::error_of([&] { relu(Value()); }), HasSubstr("empty"));
  EXPECT_THAT(test::error_of([&] { graph.set_input(*graph.nodes()[0], 0, foreign); }), HasSubstr("belongs to another graph"));
}

TEST(BadInput, WeightsThatDoNotFitAreNamed) {
  const auto error = [](std::shared_ptr<const WeightSource> weights) {
    return test::error_of([&] { Session(small_graph(), std::move(weights)); });
  };
  EXPECT_THAT(error(nullptr), HasSubstr("no weights were given"));
  EXPECT_THAT(error(memory_weights({})), HasSubstr("w"));
  EXPECT_THAT(error(small_weights(DType::kF32, {5})), HasSubstr("[5]"));
  EXPECT_THAT(error(small_weights(DType::kF16)), HasSubstr("f16"));
}

TEST(BadInput, TensorsThatDoNotFitAreNamedAndTheNextRunIsUnharmed) {
  Session session(small_graph(), small_weights(), {.num_threads = 1});
  const HostTensor x(DType::kF32, {3, 4}), other(DType::kF32, {3});
  const auto error = [&](const std::map<std::string, Tensor>& inputs) { return test::error_of([&] { session.run(inputs); }); };
  EXPECT_THAT(error({{"x", x}}), HasSubstr("'other'"));
  EXPECT_THAT(error({{"x", HostTensor(DType::kF16, {3, 4})}, {"other", other}}), HasSubstr("f16"));
  EXPECT_THAT(error({{"x", HostTensor(DType::kF32, {3, 4, 1})}, {"other", other}}), HasSubstr("[3, 4, 1]"));
  EXPECT_THAT(error({{"x", HostTensor(DType::kF32, {3, 5})}, {"other", other}}), HasSubstr("4 is wanted"));
  EXPECT_THAT(error({{"x", x}, {"other", HostTensor(DType::kF32, {2})}}), HasSubstr("by other inputs"));
  Tensor turned = x.view();
  std::swap(turned.strides[0], turned.strides[1]);
  EXPECT_THAT(error({{"x", turned}, {"other", other}}), HasSubstr("contiguous"));
  EXPECT_EQ(session.run({{"x", x}, {"other", other}}).at("y").view().sizes, (Sizes{3, 4}));
}

}  // namespace
}  // namespace headrace::fuzzing
