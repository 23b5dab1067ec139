#include "ops/region/region.h"

#include "core/test_support.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

Region region(const std::string& body) { return {RegionBody::from_text("{" + body + "}")}; }

constexpr char kRmsNorm[] = R"(
  input %x : f32[tokens, n]
  input %w : f32[n]
  const %eps : f32[] = [1e-05]
  %0 = mul(%x, %x)
  %1 = mean(%0) {axes=[-1], keepdim=true}
  %2 = add(%1, %eps)
  %3 = rsqrt(%2)
  %4 = mul(%x, %3)
  %5 = mul(%4, %w)
  return %5)";

TEST(Region, HasTheTypesOfItsBody) {
  EXPECT_EQ(inferred("region", region(kRmsNorm), {"f32[tokens, n]", "f32[n]"}), "f32[tokens, n]");
  EXPECT_EQ(inferred("region", region(kRmsNorm), {"f32[7, 8]", "bf16[8]"}), "f32[7, 8]");
  EXPECT_THAT(rejection("region", region(kRmsNorm), {"f32[7, 8]"}), HasSubstr("reads 2 operands"));
  EXPECT_THAT(rejection("region", region(kRmsNorm), {"f32[7, 8]", "f32[9]"}), HasSubstr("do not broadcast"));
}

TEST(Region, IsWrittenInBracesAndReadBack) {
  Graph graph(builtin_ops(), "g");
  const Value x = graph.input("x", parse_type("f32[tokens, n]")), w = graph.parameter("w", parse_type("f32[n]"));
  graph.mark_output(graph.emit("region", region(kRmsNorm), {x, w}), "y");
  const std::string text = graph.to_text();
  EXPECT_EQ(Graph::parse(text, builtin_ops()).to_text(), text) << text;
}

TEST(Region, BodiesWithWhatARegionCannotHoldAreRefused) {
  const auto refused = [](const std::string& body) { return test::error_of([&] { region(body); }); };
  EXPECT_THAT(refused("input %x : f32[2, 3] %y = sum(%x) {axes=[0], keepdim=true} return %y"), HasSubstr("sum"));
  EXPECT_THAT(refused("input %x : f32[2, 3] %y = sum(%x) {axes=[1]} return %y"), HasSubstr("sum"));
  EXPECT_THAT(refused("input %x : i64[2, 3] %y = neg(%x) return %y"), HasSubstr("neg"));
  EXPECT_THAT(refused("input %x : f32[2, 2] %y = matmul(%x, %x) return %y"), HasSubstr("matmul"));
  EXPECT_THAT(refused("param %x : f32[2, 2] %y = neg(%x) return %y"), HasSubstr("'x'"));
  EXPECT_THAT(refused("const %c : f32[2] = [1, 2] %y = neg(%c) return %y"), HasSubstr("'c'"));
  EXPECT_THAT(refused("input %x : f32[2, 3] input %w : f32[3] %y = neg(%w) %z = add(%x, %y) return %z, %y"), HasSubstr("'y'"));
  EXPECT_THAT(refused("input %x : f32[2, 3] return %x"), HasSubstr("'x'"));
  EXPECT_THAT(refused("input %x : f32[2] %y = region(%x) {body={ input %x : f32[2] %y = neg(%x) {a={}} return %y }} return %y"),
              HasSubstr("braces"));
}

TEST(Region, MeansWhatItsBodyMeans) {
  for (int64_t n : {1, 5, 37})
    expect_decomposition_matches("region", region(kRmsNorm), {random_tensor({3, n}), random_tensor({n}, DType::kBF16, 2)});
}

}  // namespace
}  // namespace headrace
