#include "lowering/plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.h"
#include "device/cpu/cpu_device.h"
#include "device/null/null_device.h"
#include "lowering/arena_layout.h"
#include "ops/ops.h"

namespace headrace {
namespace {

class MapParameters : public ParameterSource {
 public:
  std::map<std::string, HostTensor> tensors;
  std::vector<std::string> finished;
  Constant get(const std::string& path) override {
    const auto it = tensors.find(path);
    if (it == tensors.end()) throw Error(ErrorCode::kNotFound, "no " + path);
    return {it->second.view(), std::make_shared<HostTensor>(it->second)};
  }
  void done_with(const std::string& path) override { finished.push_back(path); }
};

HostTensor floats(const Sizes& sizes, const std::vector<float>& values) {
  return HostTensor(DType::kF32, sizes, std::span<const float>(values));
}

Graph parse(const std::string& body) { return Graph::parse("graph g {\n" + body + "\n}", builtin_ops()); }

TEST(Plan, SizesMayChangeFromRunToRun) {
  MapParameters none;
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 2});
  Plan plan(parse("input %x : f32[n, 3]\n input %y : f32[n, 3]\n %s = add(%x, %y)\n %m = mul(%s, %x)\n return %m"), device,
            *builtin_kernels(), none, {});
  const auto stream = device->make_stream();
  for (int n : {1, 5, 2, 0, 100}) {
    HostTensor x(DType::kF32, {n, 3}), y(DType::kF32, {n, 3});
    for (int i = 0; i < n * 3; ++i) x.as<float>()[i] = float(i), y.as<float>()[i] = 1;
    plan.run(*stream, {{"x", x}, {"y", y}});
    const Tensor m = plan.output("m");
    ASSERT_EQ(m.sizes, (Sizes{n, 3}));
    for (int i = 0; i < n * 3; ++i) ASSERT_EQ(m.as<float>()[i], float(i) * float(i + 1));
  }
}

TEST(Plan, InputsThatDoNotFitAreErrorsThatNameThem) {
  MapParameters none;
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  Plan plan(parse("input %x : f32[n, 3]\n input %y : f32[n, 3]\n %s = add(%x, %y)\n return %s"), device, *builtin_kernels(), none, {});
  const auto stream = device->make_stream();
  const HostTensor x(DType::kF32, {4, 3}), narrow(DType::kF32, {4, 2}), longer(DType::kF32, {5, 3}), half(DType::kF16, {4, 3});
  const auto error = [&](const std::map<std::string, Tensor>& inputs) { return test::error_of([&] { plan.run(*stream, inputs); }); };
  EXPECT_NE(error({{"x", x}}).find("'y'"), std::string::npos);
  EXPECT_NE(error({{"x", x}, {"y", narrow}}).find("'y'"), std::string::npos);
  EXPECT_NE(error({{"x", x}, {"y", longer}}).find("'y': a size is 5"), std::string::npos);
  EXPECT_NE(error({{"x", x}, {"y", half}}).find("f16"), std::string::npos);
  EXPECT_NO_THROW(plan.run(*stream, {{"x", x}, {"y", x}})) << "and the plan still works";
  Plan far(parse("input %z : f32[n-9223372036854775807-1]\n %s = relu(%z)\n return %s"), device, *builtin_kernels(), none, {});
  EXPECT_THROW(far.run(*stream, {{"z", HostTensor(DType::kF32, {4})}}), Error) << "no n is that large";
}

TEST(Plan, SymbolsAreFoundFromSumsAndProductsOfThem) {
  MapParameters none;
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  Plan plan(parse("input %x : f32[2*n+3]\n %s = silu(%x)\n return %s"), device, *builtin_kernels(), none, {});
  const auto stream = device->make_stream();
  for (int64_t size : {3, 5, 9}) {
    plan.run(*stream, {{"x", HostTensor(DType::kF32, {size})}});
    EXPECT_EQ(plan.output("s").sizes, (Sizes{size}));
  }
  for (int64_t size : {1, 4}) EXPECT_THROW(plan.run(*stream, {{"x", HostTensor(DType::kF32, {size})}}), Error) << size;
}

TEST(Plan, ARunThatFailedLeavesNoTraceInTheNextOnes) {
  MapParameters none;
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  Plan plan(parse("input %x : f32[n]\n input %y : f32[n]\n %s = add(%x, %y)\n return %s"), device, *builtin_kernels(), none, {});
  const auto stream = device->make_stream();
  const HostTensor ones = floats({2}, {1, 1}), tens = floats({2}, {10, 10}), hundreds = floats({2}, {100, 100}),
                   longer = floats({3}, {1, 1, 1});
  plan.run(*stream, {{"x", ones}, {"y", tens}});
  for (int i = 0; i < 2; ++i) EXPECT_THROW(plan.run(*stream, {{"x", longer}, {"y", tens}}), Error) << "also the second time";
  EXPECT_THROW(plan.run(*stream, {{"x", hundreds}}), Error);
  plan.run(*stream, {{"x", hundreds}, {"y", tens}});
  EXPECT_EQ(plan.output("s").as<float>()[0], 110);
}

TEST(Plan, WeightExpressionsAreEvaluatedAtLoadAndParametersGivenBack) {
  MapParameters parameters;
  parameters.tensors["w"] = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  Plan plan(parse("input %x : f32[n, 2]\n param %w : f32[2, 3]\n %t = permute(%w) {axes=[1, 0]}\n %y = linear(%x, %t)\n return %y"), device,
            *builtin_kernels(), parameters, {.arithmetic = Arithmetic::kExact});
  EXPECT_EQ(plan.steps().size(), 1u) << "only the linear runs";
  EXPECT_EQ(parameters.finished, std::vector<std::string>{"w"});
  const HostTensor x = floats({1, 2}, {10, 1});
  plan.run(*device->make_stream(), {{"x", x}});
  const Tensor y = plan.output("y");
  EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + 3), (std::vector<float>{14, 25, 36}));
}

// 2^50,000 ways lead from the last value to the parameter, each 50,000 nodes long.
TEST(Plan, SizesThatCannotBeCountedAreErrors) {
  MapParameters none;
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  for (const char* type : {"f32[n, 9223372036854775807]", "f32[4294967296, n, 4294967296]", "f32[n, -9223372036854775808]"})
    EXPECT_THROW(Plan(parse("input %x : " + std::string(type) + "\n %y = relu(%x)\n return %y"), device, *builtin_kernels(), none, {}),
                 Error)
        << type;
}

TEST(Plan, AWeightIsNeverChangedInPlace) {
  MapParameters parameters;
  parameters.tensors["kv"] = HostTensor(DType::kF32, {2, 2, 1, 4, 3});
  const std::string leaves = "param %kv : f32[2, 2, 1, 4, 3]\n input %k : f32[n, 3]\n input %slots : i32[n]\n";
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  for (const char* kv : {"%kv", "%turned"}) {
    const std::string body =
        leaves + " %turned = permute(%kv) {axes=[0, 1, 2, 3, 4]}\n %y = kv_write(" + kv + ", %k, %k, %slots)\n return %y";
    EXPECT_THROW(Plan(parse(body), device, *builtin_kernels(), parameters, {}), Error) << kv;
  }
}

TEST(Plan, DeepWeightExpressionsAreEvaluatedOnceEach) {
  MapParameters parameters;
  parameters.tensors["w"] = floats({1}, {1});
  Graph graph(builtin_ops());
  const TensorType one{DType::kF32, {1}};
  Value value = graph.parameter("w", one);
  for (int i = 0; i < 50'000; ++i) value = graph.emit("mul", {value, value});
  graph.mark_output(graph.emit("add", {graph.input("x", one), value}), "y");
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  Plan plan(std::move(graph), device, *builtin_kernels(), parameters, {});
  EXPECT_EQ(plan.steps().size(), 1u);
  EXPECT_EQ(parameters.finished, std::vector<std::string>{"w"});
  plan.run(*device->make_stream(), {{"x", floats({1}, {2})}});
  EXPECT_EQ(plan.output("y").as<float>()[0], 3);
}

TEST(Plan, FusedOpsWithoutKernelsAreTakenApartInPlace) {
  MapParameters parameters;
  parameters.tensors["w"] = floats({2}, {1, 1});
  Graph graph(builtin_ops());
  const TensorType row{DType::kF32, {1, 2}};
  const Value w = graph.parameter("w", {DType::kF32, {2}});
  Value value = graph.input("x", row);
  for (int i = 0; i < 2000; ++i) value = graph.emit_all("add_rms_norm", {}, {value, value, w})[1];
  graph.mark_output(value, "y");
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  Plan plan(std::move(graph), device, KernelRegistry(), parameters, {});
  const std::vector<Plan::Step> steps = plan.steps();
  ASSERT_EQ(steps.size(), 14000u);
  const char* parts[] = {"add", "square", "mean", "add", "rsqrt", "mul", "mul"};
  for (size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i].op, parts[i % 7]) << i;
  EXPECT_EQ(parameters.finished, std::vector<std::string>{"w"});
}

TEST(Plan, CountsWhatKernelsReadOfConstantsButNoTables) {
  MapParameters parameters;
  parameters.tensors["e"] = HostTensor(DType::kF32, {1000, 64});
  parameters.tensors["n"] = HostTensor(DType::kF32, {64});
  parameters.tensors["w"] = HostTensor(DType::kF32, {32, 64});
  parameters.tensors["v"] = HostTensor(DType::kBF16, {32, 64});
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  const std::string leaves = R"(input %i : i32[n]
    param %e : f32[1000, 64]
    param %n : f32[64]
    param %w : f32[32, 64]
    param %v : bf16[32, 64]
  )";
  const auto bytes = [&](const std::string& body) {
    return Plan(parse(leaves + body), device, *builtin_kernels(), parameters, {.arithmetic = Arithmetic::kExact}).constant_bytes();
  };
  const int64_t matrix = 32 * 64 * 4;
  EXPECT_EQ(bytes("%x = embedding(%i, %e)\n return %x"), 0);
  EXPECT_EQ(bytes("%x = embedding(%i, %e)\n %y = linear(%x, %w)\n return %y"), matrix);
  EXPECT_EQ(bytes("%x = embedding(%i, %e)\n %z = rms_norm(%x, %n)\n %y = linear(%z, %w)\n return %y"), matrix + 64 * 4);
  EXPECT_EQ(bytes("%x = embedding(%i, %e)\n %y = linear(%x, %w)\n %z = linear(%x, %w)\n return %y, %z"), 2 * matrix) << "read twice";
  EXPECT_LE(bytes("%x = embedding(%i, %e)\n %y = linear(%x, %v)\n return %y"), matrix / 2) << "never more than is stored";
}

TEST(Plan, FusedLinearsOfWhatIsKnownAtLoadRun) {
  MapParameters parameters;
  parameters.tensors["w"] = floats({2, 2}, {1, 2, 3, 4});
  parameters.tensors["k"] = floats({1, 2}, {1, 1});
  auto cpu = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 2});
  for (const char* call : {"fused_linear(%k, %w, %x) {residual=true}", "fused_linear(%x, %w, %k) {residual=true}"}) {
    Plan plan(parse("input %x : f32[1, 2]\n param %w : f32[2, 2]\n param %k : f32[1, 2]\n %y = " + std::string(call) + "\n return %y"), cpu,
              *builtin_kernels(), parameters, {});
    plan.run(*cpu->make_stream(), {{"x", floats({1, 2}, {1, 1})}});
    EXPECT_EQ(plan.output("y").as<float>()[0], 4);
    EXPECT_EQ(plan.output("y").as<float>()[1], 8);
  }
}

TEST(Plan, SlicesAreViewsWithoutWork) {
  MapParameters none;
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 1});
  Plan plan(parse("input %x : f32[n, 6]\n %s = silu(%x)\n %a = slice(%s) {axis=1, begin=2, end=4}\n %y = add(%a, %a)\n return %y, %a"),
            device, *builtin_kernels(), none, {});
  EXPECT_EQ(plan.steps().size(), 2u);
  HostTensor x(DType::kF32, {2, 6});
  for (int i = 0; i < 12; ++i) x.as<float>()[i] = 100;  // silu(100) = 100
  x.as<float>()[2] = 0;
  plan.run(*device->make_stream(), {{"x", x}});
  EXPECT_EQ(plan.output("y").as<float>()[0], 0);
  EXPECT_EQ(plan.output("y").as<float>()[3], 200);
  EXPECT_EQ(plan.output("a").strides[0], 6);
}

TEST(Plan, AKernelThatADeviceLacksIsDecomposedOrAnError) {
  MapParameters none;
  auto null_device = std::make_shared<NullDevice>();
  EXPECT_THROW(Plan(parse("input %x : f32[n, 6]\n %s = silu(%x)\n return %s"), null_device, *builtin_kernels(), none, {}), Error);
  // Without any kernels at all every fused op falls back on its parts, and those on their references.
  MapParameters parameters;
  parameters.tensors["w"] = floats({2}, {1, 1});
  auto cpu = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 2});
  Plan plan(parse("input %x : f32[n, 2]\n param %w : f32[2]\n %s, %y = add_rms_norm(%x, %x, %w)\n return %y, %s"), cpu, KernelRegistry(),
            parameters, {});
  EXPECT_EQ(plan.steps().size(), 7u) << "add; square, mean, add, rsqrt, mul, mul";
  plan.run(*cpu->make_stream(), {{"x", floats({1, 2}, {3, 4})}});
  EXPECT_NEAR(plan.output("y").as<float>()[0], 6 / std::sqrt(50.0), 1e-5);
}

TEST(ArenaLayout, BlocksAliveTogetherDoNotOverlapAndOthersShare) {
  ArenaLayout layout;
  struct Block {
    size_t bytes;
    int first, last, id;
  };
  std::vector<Block> blocks;
  uint32_t state = 1;
  for (int i = 0; i < 200; ++i) {
    state = state * 1664525 + 1013904223;
    const int first = int(state >> 8) % 50, last = first + int(state >> 16) % 6;
    blocks.push_back({(state >> 20) % 5000, first, last, layout.add((state >> 20) % 5000, first, last)});
  }
  layout.assign();
  size_t sum = 0;
  for (const Block& a : blocks) {
    sum += a.bytes;
    EXPECT_EQ(layout.offset(a.id) % ArenaLayout::kAlignment, 0u);
    EXPECT_LE(layout.offset(a.id) + a.bytes, layout.total_bytes());
    for (const Block& b : blocks)
      if (a.id < b.id && a.first <= b.last && b.first <= a.last) {
        EXPECT_TRUE(layout.offset(a.id) + a.bytes <= layout.offset(b.id) || layout.offset(b.id) + b.bytes <= layout.offset(a.id));
      }
  }
  EXPECT_LT(layout.total_bytes(), sum / 4) << "memory is used again";
}

}  // namespace
}  // namespace headrace
