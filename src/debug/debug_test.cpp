#include "headrace/debug.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "core/test_support.h"
#include "debug/npy.h"
#include "debug/step_bytes.h"
#include "device/cpu/cpu_device.h"
#include "lowering/weight_parameters.h"
#include "ops/ops.h"
#include "weights/weight_source.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

HostTensor floats(const Sizes& sizes, const std::vector<float>& values) {
  return HostTensor(DType::kF32, sizes, std::span<const float>(values));
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A plan and what it needs, on two threads.
struct Lowered {
  Lowered(const std::string& body, std::map<std::string, HostTensor> weights, const KernelRegistry& kernels, DebugOptions options)
      : source(memory_weights(std::move(weights))), debugger(std::move(options)) {
    Graph graph = Graph::parse("graph g {\n" + body + "\n}", builtin_ops());
    WeightParameters parameters(graph, source);
    plan.emplace(std::move(graph), device, kernels, parameters, LoweringOptions{.arithmetic = Arithmetic::kExact});
    debugger.watch(*plan, source, true);
  }
  void run(const std::map<std::string, Tensor>& inputs) { plan->run(*stream, inputs); }

  std::shared_ptr<CpuDevice> device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = 2});
  std::unique_ptr<Stream> stream = device->make_stream();
  std::shared_ptr<const WeightSource> source;
  std::optional<Plan> plan;
  Debugger debugger;
};

// silu, one element of it multiplied by something.
template <typename Factor>
class WrongSilu : public CpuKernel {
 public:
  void run(Team& team, const Launch& launch) const override {
    if (team.rank() != 0) return;
    const Tensor &x = launch.inputs[0], &y = launch.outputs[0];
    for (int64_t i = 0; i < x.numel(); ++i) y.as<float>()[i] = x.as<float>()[i] / (1 + std::exp(-x.as<float>()[i]));
    y.as<float>()[1] *= Factor::value;
  }
  std::string description() const override { return "silu/wrong"; }
};
struct OnePercent {
  static constexpr float value = 1.01f;
};
struct NotANumber {
  static constexpr float value = NAN;
};

// Writes nothing but what it must not: the last element of the cache.
class WrongWrite : public CpuKernel {
 public:
  void run(Team& team, const Launch& launch) const override {
    if (team.rank() == 0) launch.outputs[0].as<float>()[launch.outputs[0].numel() - 1] = 99;
  }
  std::string description() const override { return "kv_write/wrong"; }
};

template <typename T>
KernelRegistry with_wrong(const char* op) {
  KernelRegistry kernels;
  kernels.add({.op = op, .name = "wrong", .device = DeviceKind::kCpu, .supports = supports_all, .make = make_as<T>});
  for (const char* other : {"linear", "relu"})
    for (const KernelDef* k : builtin_kernels()->candidates(other, DeviceKind::kCpu)) kernels.add(*k);
  return kernels;
}

TEST(KernelCheck, AWrongKernelIsFoundAndNamedWithItsPlace) {
  const std::string body =
      " input %x : f32[n, 2]\n param %layers.0.fc.weight : f32[2, 2]\n %h = linear(%x, %layers.0.fc.weight)\n %s = silu(%h)\n"
      " %y = relu(%s)\n return %y";
  Lowered wrong(body, {{"layers.0.fc.weight", floats({2, 2}, {1, 2, 3, 4})}}, with_wrong<WrongSilu<OnePercent>>("silu"), {.check = true});
  const HostTensor x = floats({3, 2}, {1, 1, 2, 0.5f, 3, 1});
  wrong.run({{"x", x}});
  wrong.run({{"x", x}});
  const std::vector<KernelCheck> checks = wrong.debugger.checks();
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(checks[0].kernel, "silu/wrong") << "the worst first";
  EXPECT_EQ(checks[0].value, "layers.0.silu");
  EXPECT_EQ(checks[0].calls, 2);
  EXPECT_FALSE(checks[0].fits());
  EXPECT_NEAR(checks[0].absolute, 0.01 * 7 / (1 + std::exp(-7.0)), 1e-4);
  EXPECT_NEAR(checks[0].relative, checks[0].absolute / (13 / (1 + std::exp(-13.0))), 1e-4) << "13 is the largest of the results";
  EXPECT_TRUE(checks[1].fits() && checks[2].fits());
  EXPECT_THAT(to_text(checks), HasSubstr("layers.0.silu  BEYOND THE BOUND"));
}

TEST(KernelCheck, RightKernelsFitAndStatesAreComparedAsTheyWere) {
  const std::string body =
      " input %k : f32[n, 4]\n input %slots : i32[n]\n state %kv : f32[num_blocks, 2, 1, block_tokens, 4]\n"
      " %w = kv_write(%kv, %k, %k, %slots)\n %y = silu(%k)\n return %y";
  Lowered right(body, {}, *builtin_kernels(), {.check = true});
  HostTensor kv(DType::kF32, {3, 2, 1, 2, 4});
  right.plan->bind_state("kv", kv);
  for (int32_t slot : {0, 5, 0}) {
    HostTensor slots(DType::kI32, {1});
    slots.as<int32_t>()[0] = slot;
    const HostTensor k = floats({1, 4}, {float(slot) + 1, 2, 3, 4});
    right.run({{"k", k}, {"slots", slots}});
  }
  const std::vector<KernelCheck> checks = right.debugger.checks();
  ASSERT_EQ(checks.size(), 2u);
  for (const KernelCheck& c : checks) {
    EXPECT_EQ(c.calls, 3);
    EXPECT_TRUE(c.fits()) << c.kernel;
  }
  EXPECT_EQ(kv.as<float>()[0], 1) << "the run's own writes stay";
}

TEST(KernelCheck, AStateThatIsClobberedIsFoundThoughTheKernelChangedWhatItRead) {
  const std::string body =
      " input %k : f32[n, 4]\n input %slots : i32[n]\n state %kv : f32[num_blocks, 2, 1, block_tokens, 4]\n"
      " %w = kv_write(%kv, %k, %k, %slots)\n return %w";
  Lowered wrong(body, {}, with_wrong<WrongWrite>("kv_write"), {.check = true});
  HostTensor kv(DType::kF32, {3, 2, 1, 2, 4}), slots(DType::kI32, {0}), k(DType::kF32, {0, 4});
  wrong.plan->bind_state("kv", kv);
  wrong.run({{"k", k}, {"slots", slots}});
  EXPECT_EQ(wrong.debugger.checks()[0].absolute, 99);
  EXPECT_FALSE(wrong.debugger.checks()[0].fits());
}

TEST(KernelCheck, NaNMustStandWhereTheReferenceHasIt) {
  const std::string body = " input %x : f32[n, 2]\n %y = silu(%x)\n return %y";
  const auto fits = [&](const KernelRegistry& kernels, float second) {
    Lowered lowered(body, {}, kernels, {.check = true});
    const HostTensor x = floats({1, 2}, {1, second});
    lowered.run({{"x", x}});
    return lowered.debugger.checks()[0].fits();
  };
  EXPECT_FALSE(fits(with_wrong<WrongSilu<NotANumber>>("silu"), 2));
  EXPECT_TRUE(fits(with_wrong<WrongSilu<OnePercent>>("silu"), NAN)) << "of NaN nothing else is expected";
}

TEST(Profile, HoldsEveryStepWithWhatItReadsAndWrites) {
  const std::string body =
      " input %ids : i32[n]\n param %table.weight : f32[100, 8]\n param %fc.weight : f32[16, 8]\n %x = embedding(%ids, %table.weight)\n"
      " %h = linear(%x, %fc.weight)\n %y = relu(%h)\n return %y";
  Lowered lowered(body, {{"table.weight", HostTensor(DType::kF32, {100, 8})}, {"fc.weight", HostTensor(DType::kF32, {16, 8})}},
                  *builtin_kernels(), {.profile = true});
  HostTensor ids(DType::kI32, {3});
  lowered.debugger.name_next_run("prefill");
  lowered.run({{"ids", ids}});
  lowered.debugger.name_next_run("decode");
  lowered.run({{"ids", ids}});
  lowered.debugger.name_next_run("decode");
  lowered.run({{"ids", ids}});
  const Profile profile = lowered.debugger.profile();
  ASSERT_EQ(profile.phases.size(), 2u);
  EXPECT_EQ(profile.phases[0].name, "prefill");
  EXPECT_EQ(profile.phases[1].runs, 2);
  std::map<std::string, Profile::Kernel> kernels;
  double seconds = 0;
  for (const Profile::Kernel& k : profile.phases[1].kernels) kernels[k.name.substr(0, k.name.find('/'))] = k, seconds += k.seconds;
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels["embedding"].bytes, 2 * (3 * 4 + 3 * 8 * 4 * 2)) << "ids, and rows read and written";
  EXPECT_EQ(kernels["linear"].bytes, 2 * (16 * 8 * 4 + 3 * 8 * 4 + 3 * 16 * 4));
  EXPECT_EQ(kernels["relu"].bytes, 2 * (2 * 3 * 16 * 4));
  EXPECT_EQ(kernels["relu"].calls, 2);
  EXPECT_GT(seconds, 0);
  EXPECT_LE(seconds, profile.phases[1].seconds) << "steps do not overlap";
  EXPECT_GT(profile.read_gb_per_s, 0);
  EXPECT_THAT(to_text(profile), HasSubstr("decode: 2 runs"));
}

TEST(Profile, TheTraceIsJsonWithRunsAndTheirSteps) {
  const test::TempFolder folder;
  Lowered lowered(" input %x : f32[n, 2]\n %h = relu(%x)\n %y = silu(%h)\n return %y", {}, *builtin_kernels(), {.profile = true});
  const HostTensor x = floats({1, 2}, {1, 2});
  lowered.run({{"x", x}});
  lowered.debugger.write_trace(folder / "t.json");
  const Json trace = read_json_file(folder / "t.json");
  std::vector<std::string> names;
  double run_begin = 0, run_end = 0;
  for (const Json& e : trace.at("traceEvents")) {
    if (e.at("ph") != "X") continue;
    names.push_back(e.at("name"));
    const double begin = e.at("ts"), end = begin + e.at("dur").get<double>();
    if (names.size() == 1) run_begin = begin, run_end = end;
    EXPECT_GE(begin, run_begin);
    EXPECT_LE(end, run_end + 0.002) << "within the run, up to rounding";
  }
  EXPECT_EQ(names, (std::vector<std::string>{"run", "relu", "y"}));
}

TEST(Dump, EveryRunsValuesAreFilesThatTheManifestLists) {
  const test::TempFolder folder;
  Lowered lowered(" input %x : f32[n, 2]\n %h = relu(%x)\n %s = silu(%h)\n %y = add(%s, %x)\n return %y as \"out/1\", %h as \"h\"", {},
                  *builtin_kernels(), {.dump_directory = folder / "dump", .dump_steps = true});
  for (int n : {1, 3}) {
    HostTensor x(DType::kF32, {n, 2});
    x.as<float>()[0] = float(n);
    lowered.run({{"x", x}});
    const Json manifest = read_json_file(folder / "dump/manifest.json");  // complete after each run
    const Json& run = manifest.at("runs").back();
    EXPECT_EQ(run.at("run"), n == 1 ? 0 : 1);
    std::vector<std::string> found;
    for (const Json& v : run.at("values")) {
      found.push_back(v.at("kind").get<std::string>() + " " + v.at("name").get<std::string>());
      EXPECT_EQ(v.at("shape"), Json({n, 2}));
      EXPECT_EQ(bytes_of(folder / ("dump/" + v.at("file").get<std::string>())).size(), 128u + size_t(n) * 2 * 4);
    }
    EXPECT_THAT(found, UnorderedElementsAre("input x", "step silu", "output out/1", "output h"));
  }
  const std::string h = bytes_of(folder / "dump/000001/h.npy");
  float first = 0;
  std::memcpy(&first, h.data() + 128, 4);
  EXPECT_EQ(first, 3);
  EXPECT_FALSE(bytes_of(folder / "dump/000001/out_1.npy").empty()) << "a name that is no file's";
  EXPECT_THAT(test::error_of([&] { Debugger again({.dump_directory = folder / "dump"}); }), HasSubstr("holds a dump already"));
}

TEST(Npy, HeadersSayTypeAndShapeAndNarrowFloatsAreWidened) {
  const test::TempFolder folder;
  const auto written = [&](const Tensor& tensor) {
    write_npy(folder / "t.npy", tensor);
    return bytes_of(folder / "t.npy");
  };
  const HostTensor scalar = floats({}, {2}), line(DType::kI64, {5}), half(DType::kF16, {2, 3}), brain(DType::kBF16, {1, 2});
  EXPECT_EQ(written(scalar).substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_THAT(written(scalar), HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (), }"));
  EXPECT_THAT(written(line), HasSubstr("'<i8', 'fortran_order': False, 'shape': (5,), }"));
  EXPECT_THAT(written(half), HasSubstr("'<f2', 'fortran_order': False, 'shape': (2, 3, ), }"));
  EXPECT_EQ(written(half).size(), 128u + 12);
  EXPECT_THAT(written(brain), HasSubstr("'<f4'"));
  EXPECT_EQ(written(brain).size(), 128u + 8);
  const std::string bytes = written(line);
  EXPECT_EQ(10 + uint8_t(bytes[8]) + 256 * uint8_t(bytes[9]), 128) << "where the data begins";
  EXPECT_EQ(bytes[127], '\n');
  Tensor columns = floats({2, 2}, {1, 2, 3, 4}).view();
  const HostTensor owner = floats({2, 2}, {1, 2, 3, 4});
  columns.data = owner.view().data;
  columns.strides = {1, 2};
  float second = 0;
  std::memcpy(&second, written(columns).data() + 132, 4);
  EXPECT_EQ(second, 3) << "of any strides";
}

TEST(PassWriter, WritesOneNumberedFileForEachPass) {
  const test::TempFolder folder;
  const auto write = pass_writer(folder / "passes");
  Graph graph = Graph::parse("graph g { input %x : f32[2]\n %y = relu(%x)\n return %y }", builtin_ops());
  write("mark", graph, 0.1);
  write("canonicalize", graph, 0.1);
  EXPECT_EQ(bytes_of(folder / "passes/02-canonicalize.txt"), graph.to_text());
  EXPECT_FALSE(bytes_of(folder / "passes/01-mark.txt").empty());
}

TEST(Debugger, BeginsAnewWithAnotherPlan) {
  const std::string body = " input %x : f32[n, 2]\n %y = silu(%x)\n return %y";
  Lowered wrong(body, {}, with_wrong<WrongSilu<OnePercent>>("silu"), {.check = true});
  const HostTensor x = floats({1, 2}, {1, 2});
  wrong.run({{"x", x}});
  EXPECT_FALSE(wrong.debugger.checks()[0].fits());
  Lowered right(body, {}, *builtin_kernels(), {});
  wrong.debugger.watch(*right.plan, right.source, true);
  right.run({{"x", x}});
  ASSERT_EQ(wrong.debugger.checks().size(), 1u);
  EXPECT_TRUE(wrong.debugger.checks()[0].fits());
  EXPECT_EQ(wrong.debugger.checks()[0].calls, 1);
}

TEST(Debugger, GivesNothingThatWasNotAskedFor) {
  Lowered lowered(" input %x : f32[n, 2]\n %y = relu(%x)\n return %y", {}, *builtin_kernels(), {});
  const HostTensor x = floats({1, 2}, {1, 2});
  lowered.run({{"x", x}});
  EXPECT_TRUE(lowered.debugger.checks().empty());
  EXPECT_TRUE(lowered.debugger.profile().phases.empty());
  EXPECT_THAT(test::error_of([&] { lowered.debugger.write_trace("t.json"); }), HasSubstr("profile"));
}

}  // namespace
}  // namespace headrace
