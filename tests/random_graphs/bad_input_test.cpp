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

}  // namespace
}  // namespace headrace::fuzzing
