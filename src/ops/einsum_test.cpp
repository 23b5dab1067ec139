#include "core/test_support.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostTensor counting(const Sizes& sizes) {
  std::vector<float> values(size_t(sizes.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i + 1);
  return floats(sizes, values);
}

struct Result {
  std::string shape;
  std::vector<float> values;
};
Result computed(std::string_view equation, const std::vector<HostTensor>& operands) {
  Graph graph(builtin_ops());
  std::vector<Value> values;
  std::unordered_map<std::string, HostTensor> leaves;
  for (const HostTensor& t : operands) {
    values.push_back(graph.input("x" + std::to_string(values.size()), type_of(t)));
    leaves[values.back().name()] = t;
  }
  graph.mark_output(einsum(equation, values), "y");
  graph.verify();
  const HostTensor y = evaluate(graph, leaves)[0];
  return {y.view().sizes.to_string(), {y.as<float>(), y.as<float>() + y.view().numel()}};
}

TEST(Einsum, OneOperandIsPermutedAndSummed) {
  const HostTensor a = counting({2, 3});
  EXPECT_THAT(computed("ij->ji", {a}).values, ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(computed("ba", {a}).values, ElementsAre(1, 4, 2, 5, 3, 6));  // implied: sorted
  EXPECT_THAT(computed("ij->j", {a}).values, ElementsAre(5, 7, 9));
  EXPECT_THAT(computed("ij->", {a}).values, ElementsAre(21));
  EXPECT_THAT(computed("i...->...i", {a}).values, ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(Einsum, TwoOperandsHavePyTorchsValues) {
  const HostTensor a = counting({2, 3}), b = counting({3, 2}), c = counting({2, 2, 3});
  EXPECT_THAT(computed("ij,jk", {a, b}).values, ElementsAre(22, 28, 49, 64));
  EXPECT_THAT(computed("ji, kj -> ki", {b, a}).values, ElementsAre(22, 28, 49, 64));
  EXPECT_THAT(computed("bij,bkj->bik", {c, c}).values, ElementsAre(14, 32, 32, 77, 194, 266, 266, 365));
  EXPECT_THAT(computed("bij,ij->b", {c, a}).values, ElementsAre(91, 217));
  EXPECT_THAT(computed("bij,bj->ib", {c, a}).values, ElementsAre(14, 122, 32, 167));
  const Result outer = computed("i,j->ji", {counting({2}), counting({3})});
  EXPECT_EQ(outer.shape, "[3, 2]");
  EXPECT_THAT(outer.values, ElementsAre(1, 2, 2, 4, 3, 6));
  EXPECT_THAT(computed(",i->i", {floats({}, {2}), counting({2})}).values, ElementsAre(2, 4));
}

TEST(Einsum, AxesBehindDotsBroadcast) {
  const HostTensor c = counting({2, 2, 3});
  const Result product = computed("...ij,jk->...ik", {c, counting({3, 2})});
  EXPECT_EQ(product.shape, "[2, 2, 2]");
  EXPECT_THAT(product.values, ElementsAre(22, 28, 49, 64, 76, 100, 103, 136));
  EXPECT_THAT(computed("...i,...i->...", {c, counting({1, 3})}).values, ElementsAre(14, 32, 50, 68));
}

TEST(Einsum, SeveralOperandsFromTheLeft) {
  EXPECT_THAT(computed("ij,jk,kl->il", {counting({2, 3}), counting({3, 2}), counting({2, 3})}).values,
              ElementsAre(134, 184, 234, 305, 418, 531));
}

TEST(Einsum, SizesMayBeSymbols) {
  Graph graph(builtin_ops());
  const Value q = graph.input("q", parse_type("f32[batch, tokens, 4, 8]")), k = graph.input("k", parse_type("f32[batch, tokens, 4, 8]"));
  EXPECT_EQ(einsum("bqhd,bkhd->bhqk", {q, graph.input("m", parse_type("f32[batch, memory, 4, 8]"))}).type().to_string(),
            "f32[batch, 4, tokens, memory]");
  EXPECT_EQ(einsum("bqhd,bqhd->bh", {q, k}).type().to_string(), "f32[batch, 4]");
}

TEST(Einsum, SaysWhatIsWrongWithAnEquation) {
  const auto error = [](std::string_view equation, const std::vector<const char*>& types) {
    Graph graph(builtin_ops());
    std::vector<Value> values;
    for (const char* type : types) values.push_back(graph.input("x" + std::to_string(values.size()), parse_type(type)));
    return error_of([&] { einsum(equation, values); });
  };
  EXPECT_THAT(error("ij,jk", {"f32[2, 3]"}), HasSubstr("letters for more"));
  EXPECT_THAT(error("ij", {"f32[2, 3]", "f32[3]"}), HasSubstr("2 operands, letters for 1"));
  EXPECT_THAT(error("ij,jk", {"f32[2, 3]", "f32[4, 5]"}), HasSubstr("j stands for 3 and for 4"));
  EXPECT_THAT(error("ii->i", {"f32[2, 2]"}), HasSubstr("twice"));
  EXPECT_THAT(error("ij->k", {"f32[2, 2]"}), HasSubstr("k stands in no operand"));
  EXPECT_THAT(error("i1->i", {"f32[2, 2]"}), HasSubstr("'1' is neither"));
  EXPECT_THAT(error("i.->i", {"f32[2, 2]"}), HasSubstr("'.' is neither"));
  EXPECT_THAT(error("i->i", {"f32[2, 2]"}), HasSubstr("names 1 axes"));
  EXPECT_THAT(error("...i->i", {"f32[2, 2]"}), HasSubstr("lacks"));
  EXPECT_THAT(error("ij", {}), HasSubstr("no operands"));
  EXPECT_THAT(error("ij->ij", {"f32[2, 2, 2]"}), HasSubstr("einsum_test.cpp:"));
}

}  // namespace
}  // namespace headrace
