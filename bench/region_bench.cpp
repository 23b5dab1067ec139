// How fast regions run: what the compiler puts together where no kernel covers it.
//   headrace_region_bench [threads] [rows] [columns]
// Each line: GB/s of operands read and results written, and its share of what memcpy reaches in the same minute, in turns; median and
// best of the rounds. "recognized" runs the op that recognition finds, "region" the same text with recognition left out.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "device/cpu/cpu_device.h"
#include "headrace/compile.h"
#include "headrace/functional.h"
#include "lowering/plan.h"
#include "measure/machine_peak.h"
#include "ops/ops.h"

namespace headrace {
namespace {

struct Case {
  const char* name;
  std::vector<std::string> operands;  // "x" and "y" (rows, columns), "w" (columns)
  const char* body;
};

const Case kCases[] = {
    {"rms_norm from parts", {"x", "w"}, R"(
      const %two : f32[] = [2]
      const %eps : f32[] = [1e-05]
      %s = pow(%x, %two)
      %m = mean(%s) {axes=[-1], keepdim=true}
      %e = add(%m, %eps)
      %i = rsqrt(%e)
      %n = mul(%x, %i)
      %r = mul(%n, %w))"},
    {"softmax from parts", {"x"}, R"(
      %m = max(%x) {axes=[-1], keepdim=true}
      %d = sub(%x, %m)
      %e = exp(%d)
      %s = sum(%e) {axes=[-1], keepdim=true}
      %r = div(%e, %s))"},
    {"silu(x) * y", {"x", "y"}, "%s = sigmoid(%x) %g = mul(%x, %s) %r = mul(%g, %y)"},
    {"add, then a norm", {"x", "y", "w"}, "%a = add(%x, %y) %r = rms_norm(%a, %w) return %a"},
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct NoParameters : ParameterSource {
  Constant get(const std::string& path) override { throw Error(ErrorCode::kNotFound, path); }
};

void run(const Case& c, bool recognize, CpuDevice& cpu, std::shared_ptr<Device> device, CopyTest& copy, int64_t rows, int64_t columns) {
  std::string text = "graph g {\n";
  for (const std::string& name : c.operands)
    text += "input %" + name + " : f32[" + (name == "w" ? "" : "rows, ") + std::to_string(columns) + "]\n";
  Graph graph = Graph::parse(text + c.body + " return %r }", builtin_ops());
  CompileOptions options;
  if (!recognize) options.skip_passes = {"recognize", "fuse-add-norm"};
  compile(graph, options);
  NoParameters none;
  Plan plan(std::move(graph), device, *builtin_kernels(), none, {});
  std::map<std::string, Tensor> operands;
  std::vector<HostTensor> owners;
  double bytes = 0;
  for (const std::string& name : c.operands) {
    owners.emplace_back(DType::kF32, name == "w" ? Sizes{columns} : Sizes{rows, columns});
    for (int64_t i = 0; i < owners.back().view().numel(); ++i) owners.back().as<float>()[i] = float(i % 1013) / 1013 - 0.5f;
    operands[name] = owners.back();
    bytes += double(owners.back().view().bytes());
  }
  const std::unique_ptr<Stream> stream = device->make_stream();
  plan.run(*stream, operands);
  for (const Graph::Output& o : plan.program().outputs()) bytes += double(plan.output(o.name).bytes());
  std::vector<double> speeds, shares;
  for (int round = 0; round < 15; ++round) {
    const double limit = copy.gb_per_s(cpu.pool(), 2);
    double best = 1e9;
    for (int i = 0; i < 2; ++i) {
      const double start = seconds();
      plan.run(*stream, operands);
      best = std::min(best, seconds() - start);
    }
    speeds.push_back(bytes / best / 1e9);
    shares.push_back(speeds.back() / limit);
  }
  std::printf("%-20s %-10s %-32s %6.1f GB/s  %3.0f %% of copying (best %3.0f %%)\n", c.name, recognize ? "recognized" : "region",
              plan.steps().at(0).kernel.c_str(), median(speeds), 100 * median(shares),
              100 * *std::max_element(shares.begin(), shares.end()));
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  using namespace headrace;
  const auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = argc > 1 ? std::atoi(argv[1]) : 0});
  const int64_t rows = argc > 2 ? std::atoll(argv[2]) : 8192, columns = argc > 3 ? std::atoll(argv[3]) : 4096;
  CopyTest copy(rows * columns * 4);
  std::printf("%s, %d threads, %ld x %ld\n", device->name().c_str(), device->pool().size(), long(rows), long(columns));
  for (const Case& c : kCases)
    for (const bool recognize : {true, false}) run(c, recognize, *device, device, copy, rows, columns);
}
