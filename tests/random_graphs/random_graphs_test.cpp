// Thousands of random graphs, the same in every run, and tests of what judges them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <set>

#include "headrace/functional.h"
#include "ops/reference.h"
#include "random_graphs/apart.h"
#include "random_graphs/bounds.h"
#include "random_graphs/shrink.h"

namespace headrace::fuzzing {
namespace {

using ::testing::HasSubstr;

std::vector<Variant> variants_of(uint64_t seed) {
  std::vector<Variant> variants = usual_variants();
  for (Variant& v : some_variants(seed)) variants.push_back(std::move(v));
  return variants;
}

// ---------------------------------------------------------------------------------------------------------------- the graphs

constexpr int kGraphsEach = 250;

class RandomGraphs : public ::testing::TestWithParam<int> {};

TEST_P(RandomGraphs, GiveWhatTheirReferencesGive) {
  int decided = 0;
  double undecided = 0;
  for (int i = 0; i < kGraphsEach; ++i) {
    const uint64_t seed = uint64_t(GetParam() * kGraphsEach + i + 1);
    const Case graph = random_case(seed);
    const Findings findings = check(graph, variants_of(seed));
    decided += findings.decided;
    undecided += findings.undecided;
    ASSERT_FALSE(findings.failure) << "graph " << seed << ", " << findings.failure->variant << ": " << findings.failure->message << "\n"
                                   << graph.to_text() << "random_graphs --seed " << seed << " --count 1 --shrink makes it smaller";
  }
  EXPECT_GE(decided, kGraphsEach * 95 / 100) << "graphs that compare nothing prove nothing";
  EXPECT_LE(undecided, kGraphsEach * 0.1) << "of all elements, those that rounding decides";
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, ::testing::Range(0, 8));

TEST(RandomCase, IsTheSameForTheSameSeedAndReadsBackAsItIsWritten) {
  for (uint64_t seed = 1; seed < 50; ++seed) {
    const std::string text = random_case(seed).to_text();
    ASSERT_EQ(text, random_case(seed).to_text());
    ASSERT_EQ(text, Case::parse(text).to_text());
  }
}

TEST(RandomCase, DrawsEveryOpThatASessionRunsByItself) {
  std::set<std::string> missing;
  for (const std::string& op : builtin_ops()->names()) missing.insert(op);
  // Made by the compiler, or by layers for the language models' loop; or of several ranks.
  for (const char* op : {"fused_linear", "region", "attention", "kv_write", "paged_attention", "qkv_post", "all_reduce", "all_gather",
                         "reduce_scatter", "send", "recv"})
    missing.erase(op);
  for (uint64_t seed = 1; seed <= 2000 && !missing.empty(); ++seed)
    for (const Case graph = random_case(seed); const Node* node : graph.graph.nodes()) missing.erase(node->op().name);
  EXPECT_THAT(missing, ::testing::IsEmpty()) << "a line in op_table.cpp is wanted for each";
}

// ---------------------------------------------------------------------------------------------------------------- bounds

// What the bounds of a graph of one output say about its reference when element `i` is changed.
std::optional<std::string> verdict(const std::string& text, int i, const std::function<float(float)>& change) {
  const Case graph = Case::parse(text);
  const Tensors leaves = leaf_data(graph.graph, Leaf::kInput, graph.symbols, graph.data_seed);
  const Bounds bounds(graph.graph, leaves, graph.symbols, Products::kFloat32, 4, 1);
  Tensors outputs = evaluate_reference(graph.graph, leaves, graph.symbols);
  const Tensor& y = outputs.begin()->second.view();
  std::vector<float> values = read_floats(y);
  values.at(size_t(i)) = change(values.at(size_t(i)));
  write_floats(y, values);
  return bounds.disagreement(outputs);
}

TEST(Bounds, AllowWhatRoundingDoesAndNoMore) {
  const std::string sum = "graph g {\n input %x : f32[8, 64]\n %y = sum(%x) {axes=[-1]}\n return %y\n}";
  EXPECT_FALSE(verdict(sum, 3, [](float v) { return v; }));
  EXPECT_FALSE(verdict(sum, 3, [](float v) { return v * (1 + 2e-7f); }));
  EXPECT_THAT(*verdict(sum, 3, [](float v) { return v + 1e-3f; }), HasSubstr("element 3 of [8] is"));
  EXPECT_THAT(*verdict(sum, 3, [](float) { return NAN; }), HasSubstr("nan"));
  const std::string half = "graph g {\n input %x : f16[64]\n %t = tanh(%x)\n %y = square(%t)\n return %y\n}";
  EXPECT_FALSE(verdict(half, 5, [](float v) { return v * (1 + 1e-3f); }));
  EXPECT_TRUE(verdict(half, 5, [](float v) { return v * 1.05f; }));
}

TEST(Bounds, WidenWhereRoundingIsAmplified) {
  const std::string cancelled =
      "graph g {\n input %x : f32[8]\n const %c : f32[] = [10000]\n %a = add(%x, %c)\n %b = tanh(%a)\n"
      " %s = add(%a, %b)\n %y = sub(%s, %c)\n return %y\n}";
  EXPECT_FALSE(verdict(cancelled, 2, [](float v) { return v + 2e-3f; }));
  EXPECT_TRUE(verdict(cancelled, 2, [](float v) { return v + 0.2f; }));
}

TEST(Bounds, IntegersAreExactUnlessRoundingDecidesThem) {
  const auto text = [](const char* body) { return std::string("graph g {\n input %x : f32[64]\n ") + body + "\n return %y\n}"; };
  EXPECT_TRUE(verdict(text("%y = cast(%x) {dtype=i32}"), 7, [](float v) { return v + 1; })) << "of an input: no rounding before it";
  EXPECT_TRUE(verdict(text("%t = tanh(%x)\n %y = cast(%t) {dtype=i32}"), 7, [](float v) { return v + 1; })) << "no whole number is near";
  // log(exp(1)), times 3: 3, or what stands before it.
  const char* edge =
      "const %three : f32[] = [3]\n %d = div(%x, %x)\n %e = exp(%d)\n %l = log(%e)\n %m = mul(%l, %three)\n %y = cast(%m) {dtype=i32}";
  EXPECT_FALSE(verdict(text(edge), 7, [](float v) { return v == 3 ? 2 : 3; }));
}

// ---------------------------------------------------------------------------------------------------------------- shrinking

// All passes, and one that breaks graphs.
std::vector<Variant> with_broken_pass(std::function<void(Graph&)> pass) {
  Variant broken{.name = "broken"};
  broken.session.num_threads = 1;
  broken.session.exact = true;
  broken.session.passes.extra_passes.push_back({.place = ExtraPass::Place::kBefore,
                                                .anchor = pass_names()[0],
                                                .pass = {"broken", [pass](Graph& graph, const CompileOptions&) { pass(graph); }}});
  return {broken};
}

// Nodes of `op` become nodes of `other` (of the same operands).
void replace_ops(Graph& graph, const std::string& op, const std::string& other) {
  for (Node* node : graph.nodes()) {
    if (node->op().name != op) continue;
    graph.insert_before(node);
    const Value wrong = graph.emit(other, node->inputs());
    graph.insert_before(nullptr);
    if (wrong.type() != node->output().type()) continue;
    graph.replace_all_uses(node->output(), wrong);
    graph.erase(*node);
  }
}

// The small graphs to which the first few large failing ones come down.
std::vector<Case> shrunk(const std::vector<Variant>& variants, const std::function<Findings(const Case&)>& check_one) {
  std::vector<Case> small;
  for (uint64_t seed = 1; seed < 400 && small.size() < 3; ++seed) {
    Case graph = random_case(seed);
    if (graph.graph.num_nodes() < 8) continue;
    const Findings found = check_one(graph);
    if (!found.failure) continue;
    small.push_back(shrink(std::move(graph), [&](const Case& candidate) {
      const Findings again = check_one(candidate);
      return again.failure && again.failure->kind() == found.failure->kind();
    }));
  }
  EXPECT_EQ(small.size(), 3u) << "graphs that the broken pass breaks: " << variants[0].name;
  return small;
}

TEST(Shrink, AWrongRewriteComesDownToTheOpThatIsRewritten) {
  const std::pair<const char*, const char*> kMistakes[] = {{"cos", "sin"}, {"sub", "add"}, {"tanh", "sigmoid"}};
  for (const auto& [op, other] : kMistakes) {
    const std::vector<Variant> variants = with_broken_pass([op = op, other = other](Graph& graph) { replace_ops(graph, op, other); });
    for (const Case& small : shrunk(variants, [&](const Case& graph) { return check(graph, variants); })) {
      EXPECT_LE(small.graph.num_nodes(), 2) << small.to_text();
      EXPECT_THAT(small.to_text(), HasSubstr(op));
    }
  }
}

TEST(Shrink, ACrashIsAFailureAndComesDownToo) {
  const std::vector<Variant> variants = with_broken_pass([](Graph& graph) {
    for (const Node* node : graph.nodes())
      if (node->op().name == "cumsum") std::raise(SIGKILL);
  });
  for (const Case& small : shrunk(variants, [&](const Case& graph) { return check_apart(graph, variants); })) {
    EXPECT_EQ(small.graph.num_nodes(), 1) << small.to_text();
    EXPECT_THAT(small.to_text(), HasSubstr("cumsum"));
  }
}

TEST(Shrink, ALoopWithoutEndIsAFailure) {
  const std::vector<Variant> variants = with_broken_pass([](Graph&) {
    for (volatile bool on = true; on;) {
    }
  });
  const Findings found = check_apart(random_case(1), variants, 1);
  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->message, HasSubstr("no end within 1 s"));
}

}  // namespace
}  // namespace headrace::fuzzing
