#include "ops/arange/arange.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Arange, CountsUpFromZero) {
  EXPECT_EQ(inferred("arange", Arange{.shape = {Dim::symbol("tokens") + Dim(1)}}, {}), "i64[tokens+1]");
  EXPECT_THAT(rejection("arange", Arange{.shape = {2, 2}}, {}), HasSubstr("one axis"));
  EXPECT_THAT(rejection("arange", Arange{.shape = {2}, .dtype = DType::kBool}, {}), HasSubstr("integers or floats"));
  EXPECT_THAT(reference_floats("arange", Arange{.shape = {3}, .dtype = DType::kBF16}, {}), ElementsAre(0, 1, 2));
  const HostTensor i = run_reference("arange", Arange{.shape = {3}, .dtype = DType::kI32}, {})[0];
  EXPECT_EQ(i.as<int32_t>()[2], 2);
}

TEST(Arange, PrintsAndParsesWithoutOperands) {
  Graph graph(builtin_ops());
  graph.mark_output(graph.emit("arange", Arange{.shape = {Dim::symbol("tokens")}}, {}), "positions");
  EXPECT_EQ(Graph::parse(graph.to_text(), builtin_ops()).to_text(), graph.to_text());
}

}  // namespace
}  // namespace headrace
