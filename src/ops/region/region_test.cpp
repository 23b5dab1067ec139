#include "ops/region/region.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/test_support.h"
#include "ops/cast/cast.h"
#include "ops/reduce/reduce.h"
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

TEST(Region, EveryKernelMatchesTheReferenceOfANorm) {
  for (int64_t n : {1, 5, 37, 512, 1500})
    for (DType w : {DType::kF32, DType::kBF16})
      expect_kernels_match_reference("region", region(kRmsNorm), {random_tensor({3, n}), random_tensor({n}, w, 2)});
}

TEST(Region, EveryKernelMatchesTheReferenceOfSoftmaxAndOfQuantization) {
  const char* softmax = R"(
    input %x : f32[a, b, n]
    %m = max(%x) {axes=[-1], keepdim=true}
    %d = sub(%x, %m)
    %e = exp(%d)
    %s = sum(%e) {axes=[-1], keepdim=true}
    %y = div(%e, %s)
    return %y, %s, %m)";
  const char* quantize = R"(
    input %x : f32[rows, n]
    input %w : f32[n]
    const %eps : f32[] = [0.5]
    const %most : f32[] = [127]
    %0 = mul(%x, %x)
    %1 = mean(%0) {axes=[1], keepdim=true}
    %2 = add(%1, %eps)
    %3 = rsqrt(%2)
    %4 = mul(%x, %3)
    %y = mul(%4, %w)
    %5 = abs(%y)
    %6 = max(%5) {axes=[-1], keepdim=true}
    %scale = div(%6, %most)
    %7 = div(%y, %scale)
    %8 = cast(%7) {dtype=i8}
    return %8, %scale)";
  for (int64_t n : {1, 7, 600}) {
    expect_kernels_match_reference("region", region(softmax), {random_tensor({2, 3, n})});
    expect_kernels_match_reference("region", region(quantize), {random_tensor({5, n}), random_tensor({n}, DType::kF32, 2)});
  }
}

TEST(Region, EveryKernelMatchesTheReferenceOfBroadcastsChoicesAndOtherTypes) {
  const char* body = R"(
    input %x : bf16[a, b, n]
    input %row : f16[b, 1]
    input %column : f32[n]
    input %outer : f32[a, 1, 1]
    input %mask : bool[b, n]
    const %half : bf16[] = [0.5]
    %0 = mul(%x, %half)
    %1 = tanh(%0)
    %2 = add(%1, %row)
    %3 = sub(%2, %column)
    %4 = where(%mask, %3, %outer)
    %5 = cast(%4) {dtype=f16}
    %6 = gelu(%5) {tanh=true}
    %7 = pow(%column, %outer)
    %8 = maximum(%7, %6)
    return %6, %4, %8, %6 as "again")";
  for (int64_t n : {1, 3, 700}) {
    HostTensor positive = random_tensor({n}, DType::kF32, 5);
    for (int64_t i = 0; i < n; ++i) positive.as<float>()[i] = std::fabs(positive.as<float>()[i]);
    expect_kernels_match_reference("region", region(body),
                                   {random_tensor({2, 3, n}, DType::kBF16), random_tensor({3, 1}, DType::kF16, 2), positive,
                                    random_tensor({2, 1, 1}, DType::kF32, 3), random_tensor({3, n}, DType::kBool, 4)},
                                   {.relative = 1e-3, .absolute = 1e-5});
  }
}

TEST(Region, RowsMayHaveOneElement) {
  for (const char* type : {"f32", "bf16"})
    for (const char* op : {"sum", "mean", "max", "min"}) {
      const std::string reduced = fmt::format("input %x : {}[r, 1] %y = {}(%x) {{axes=[-1], keepdim=true}}", type, op);
      const TestOperand x = random_tensor({5, 1}, *parse_dtype(type));
      expect_kernels_match_reference("region", region(reduced + " return %y"), {x});
      expect_kernels_match_reference("region", region(reduced + " %z = neg(%y) %d = sub(%x, %z) return %d, %y"), {x});
    }
}

TEST(Region, EveryKernelMatchesTheReferenceOfComparisons) {
  const char* body = R"(
    input %x : f32[a, n]
    input %y : f32[n]
    %less = lt(%x, %y)
    %same = eq(%x, %x)
    %both = logical_and(%less, %same)
    %z = where(%both, %x, %y)
    return %z, %both)";
  HostTensor x = random_tensor({3, 600});
  x.as<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  expect_kernels_match_reference("region", region(body), {x, random_tensor({600}, DType::kF32, 2)});
}

TEST(Region, ResultsTooLargeForTheCachesAreTheSame) {  // written past them
  const char* body = "input %x : f32[rows, n] input %w : f32[n] %0 = mul(%x, %w) %1 = add(%0, %x) %2 = neg(%0) return %1, %2";
  expect_kernels_match_reference("region", region(body), {random_tensor({1025, 2050}), random_tensor({2050}, DType::kF32, 2)});
}

TEST(Region, NanAndInfinityPassThrough) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<float> values(40, 1.0f);
  values[3] = nan, values[21] = inf, values[39] = -inf;
  for (const char* op : {"sum", "mean", "max", "min"})
    expect_kernels_match_reference("region",
                                   region(fmt::format("input %x : f32[r, n] %y = {}(%x) {{axes=[-1], keepdim=true}} return %y", op)),
                                   {floats({4, 10}, values)});
}

TEST(Region, SingleNodesOfOtherTypesHaveAKernel) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const HostTensor x = random_tensor({3, 700}, dtype), y = random_tensor({700}, DType::kF32, 2);
    expect_kernels_match_reference("add", {}, {x, y});
    expect_kernels_match_reference("silu", {}, {x}, {.relative = 1e-2});
    expect_kernels_match_reference("mean", Reduce{.axes = {-1}, .keepdim = true}, {x}, {.relative = 1e-2, .absolute = 1e-3});
  }
  expect_kernels_match_reference("cast", Cast{.dtype = DType::kI8}, {random_tensor({3, 700}, DType::kF32, 1, 300)});
}

}  // namespace
}  // namespace headrace
