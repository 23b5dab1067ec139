#include "ops/unary/unary.h"

#include <cmath>
#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(Unary, KeepsShapesAndTurnsIntegersToFloatsWherePyTorchDoes) {
  EXPECT_EQ(inferred("exp", {}, {"bf16[tokens, 8]"}), "bf16[tokens, 8]");
  EXPECT_EQ(inferred("sqrt", {}, {"i64[3]"}), "f32[3]");
  EXPECT_EQ(inferred("neg", {}, {"i64[3]"}), "i64[3]");
  EXPECT_EQ(inferred("gelu", Gelu{.tanh = true}, {"f32[]"}), "f32[]");
  EXPECT_THAT(rejection("exp", {}, {"q4_0[32]"}), HasSubstr("cast them to floats"));
  EXPECT_THAT(rejection("neg", {}, {"bool[3]"}), HasSubstr("bool"));
}

TEST(Unary, ReferencesHavePyTorchsValues) {
  const HostTensor x = floats({5}, {-2, -0.5, 0, 1, 3});
  const auto expect = [&](const char* op, const Attributes& attributes, const std::vector<float>& values) {
    EXPECT_THAT(reference_floats(op, attributes, {x}), Pointwise(FloatNear(1e-6f), values)) << op;
  };
  expect("gelu", Gelu(), {-0.0455002636f, -0.1542687694f, 0, 0.8413447461f, 2.9959503059f});
  expect("gelu", Gelu{.tanh = true}, {-0.0454023059f, -0.1542859723f, 0, 0.8411919906f, 2.9963627315f});
  expect("silu", {}, {-0.2384058440f, -0.1887703344f, 0, 0.7310585786f, 2.8577223804f});
  expect("sigmoid", {}, {0.1192029220f, 0.3775406688f, 0.5f, 0.7310585786f, 0.9525741268f});
  expect("tanh", {}, {-0.9640275801f, -0.4621171573f, 0, 0.7615941560f, 0.9950547537f});
  expect("erf", {}, {-0.9953222650f, -0.5204998778f, 0, 0.8427007929f, 0.9999779095f});
  expect("sin", {}, {-0.9092974268f, -0.4794255386f, 0, 0.8414709848f, 0.1411200081f});
  expect("cos", {}, {-0.4161468365f, 0.8775825619f, 1, 0.5403023059f, -0.9899924966f});
  EXPECT_THAT(reference_floats("relu", {}, {x}), ElementsAre(0, 0, 0, 1, 3));
  EXPECT_THAT(reference_floats("neg", {}, {x}), ElementsAre(2, 0.5, 0, -1, -3));
  EXPECT_THAT(reference_floats("abs", {}, {x}), ElementsAre(2, 0.5, 0, 1, 3));
  EXPECT_THAT(reference_floats("square", {}, {x}), ElementsAre(4, 0.25, 0, 1, 9));
  const HostTensor halves = floats({6}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.25});
  EXPECT_THAT(reference_floats("round", {}, {halves}), ElementsAre(-2, -2, 0, 0, 2, 2));
  EXPECT_THAT(reference_floats("floor", {}, {halves}), ElementsAre(-3, -2, -1, 0, 1, 2));
  EXPECT_THAT(reference_floats("ceil", {}, {halves}), ElementsAre(-2, -1, 0, 1, 2, 3));
  EXPECT_THAT(reference_floats("sign", {}, {floats({4}, {-2, 0, 0.5, NAN})}), ElementsAre(-1, 0, 1, 0));
  EXPECT_THAT(reference_floats("rsqrt", {}, {floats({3}, {0.25, 4, 16})}), ElementsAre(2, 0.5, 0.25));
  EXPECT_FLOAT_EQ(reference_floats("exp", {}, {x})[4], 20.0855369232f);
  EXPECT_FLOAT_EQ(reference_floats("log", {}, {x})[4], 1.0986122887f);
}

TEST(Unary, IntegersStayExact) {
  const HostTensor x = integers({3}, {-(int64_t{1} << 60) - 1, 0, 5}, DType::kI64);
  EXPECT_EQ(run_reference("neg", {}, {x})[0].as<int64_t>()[0], (int64_t{1} << 60) + 1);
  EXPECT_EQ(run_reference("abs", {}, {x})[0].as<int64_t>()[0], (int64_t{1} << 60) + 1);
  EXPECT_EQ(run_reference("relu", {}, {x})[0].as<int64_t>()[0], 0);
  EXPECT_EQ(run_reference("floor", {}, {x})[0].as<int64_t>()[0], -(int64_t{1} << 60) - 1);
  EXPECT_EQ(run_reference("sign", {}, {x})[0].as<int64_t>()[0], -1);
  EXPECT_EQ(run_reference("square", {}, {x})[0].as<int64_t>()[2], 25);
}

TEST(Unary, EveryKernelMatchesTheReference) {
  for (std::string_view op : kUnaryNames)
    for (int64_t n : {1, 5, 16, 31, 1037}) {
      HostTensor x = random_tensor({3, n}, DType::kF32, 7, 8);
      if (op == "log" || op == "sqrt" || op == "rsqrt") x = run_reference("abs", {}, {x})[0];
      expect_kernels_match_reference(op, {}, {x});
    }
  for (bool tanh : {false, true}) expect_kernels_match_reference("gelu", Gelu{.tanh = tanh}, {random_tensor({3, 37}, DType::kF32, 7, 8)});
}

TEST(Unary, KernelsPassOnNanAndInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  const HostTensor x = floats({7}, {std::numeric_limits<float>::quiet_NaN(), inf, -inf, 0, 1e20f, -8388609, 2147483904});
  for (const char* op : {"neg", "abs", "square", "sign", "floor", "ceil", "round", "relu", "sqrt", "rsqrt", "tanh", "sigmoid", "log"})
    expect_kernels_match_reference(op, {}, {x});
}

TEST(Unary, DecompositionsMeanTheSame) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kI32}) {
    const Check check{.relative = dtype == DType::kF16 ? 1e-3 : 2e-6};
    expect_decomposition_matches("silu", {}, {random_tensor({3, 37}, dtype)}, check);
    for (bool tanh : {false, true}) expect_decomposition_matches("gelu", Gelu{.tanh = tanh}, {random_tensor({3, 37}, dtype)}, check);
  }
}

}  // namespace
}  // namespace headrace
