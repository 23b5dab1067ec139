// How fast attention runs, next to what the machine can do.
//   headrace_attention_bench [prefill|decode|all] [threads, comma-separated]
// Prefill: one prompt over an f32, f16 and bf16 cache, and without a cache; GFLOP/s count what a causal token sees, 4 * head_dim
// for each key and head. Decode: one token of each sequence over caches that are read once in 256 MiB, as a model's layers do;
// GB/s count keys and values.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string>

#include "core/error.h"
#include "device/cpu/cpu_device.h"
#include "measure/machine_peak.h"
#include "ops/attention/attention.h"
#include "ops/ops.h"

namespace headrace {
namespace {

struct Heads {
  const char* name;
  int heads, kv_heads, head_dim;
};
constexpr Heads kSmolLm2{"smollm2", 9, 3, 64}, kLlama1b{"llama1b", 32, 8, 64}, kLlama8b{"llama8b", 32, 8, 128};
constexpr int64_t kBlockTokens = 16;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Small numbers of any float type, the same bits for all: what matters is that they are finite.
void fill(const Tensor& t) {
  uint32_t state = 1;
  for (int64_t i = 0; i < t.bytes() / 2; ++i)
    t.as<uint16_t>()[i] = uint16_t(0x3000 + ((state = state * 1664525 + 1013904223) >> 16 & 0x83ff));
}

HostTensor filled(DType dtype, const Sizes& sizes) {
  HostTensor t(dtype, sizes);
  fill(t);
  return t;
}

// A cache in memory as engines have it.
struct Cache {
  Cache(DType dtype, const Sizes& sizes, CpuDevice& device) : buffer(device.allocate(size_t(storage_bytes(dtype, sizes.numel())))) {
    tensor = Tensor::contiguous(buffer.data(), dtype, sizes);
    fill(tensor);
  }
  Buffer buffer;
  Tensor tensor;
};

HostTensor integers(const Sizes& sizes, const std::vector<int32_t>& values) {
  return HostTensor(DType::kI32, sizes, std::span<const int32_t>(values));
}

TensorType type_of(const Tensor& t) {
  TensorType type{t.dtype, {}};
  for (int64_t size : t.sizes) type.shape.push_back(size);
  return type;
}

// One op, ready to be run over several sets of operands of the same types.
class Runner {
 public:
  Runner(const char* op, const Attention& attributes, const std::vector<Tensor>& operands, CpuDevice& device)
      : stream_(device.make_stream()), y_(DType::kF32, operands[0].sizes) {
    std::vector<TensorType> types;
    for (const Tensor& o : operands) types.push_back(type_of(o));
    const Attributes boxed = attributes;
    const std::vector<Constant> constants(operands.size());
    const OpDef& definition = *builtin_ops()->find(op);
    const OpCall call{definition, boxed, types};
    kernel_ = builtin_kernels()
                  ->candidates(op, DeviceKind::kCpu)
                  .at(0)
                  ->make({call, definition.infer(call), constants, Arithmetic::kExact, device});
    launch_.kernel = kernel_.get();
    launch_.inputs = operands;
    launch_.outputs = {y_};
    workspace_ = device.allocate(kernel_->workspace_bytes(launch_.inputs, launch_.outputs));
    launch_.workspace = workspace_.data();
  }

  // Best of some rounds over launches that differ in one operand.
  double best_seconds(int operand, const std::vector<HostTensor>& variants) {
    std::vector<Launch> launches(variants.size(), launch_);
    for (size_t i = 0; i < variants.size(); ++i) launches[i].inputs[size_t(operand)] = variants[i];
    double best = 1e9;
    const double until = seconds() + 0.4;
    for (int round = 0; round < 3 || seconds() < until; ++round) {
      const double start = seconds();
      stream_->run(launches);
      best = std::min(best, (seconds() - start) / double(launches.size()));
    }
    return best;
  }

 private:
  std::unique_ptr<Stream> stream_;
  HostTensor y_;
  std::unique_ptr<Kernel> kernel_;
  Buffer workspace_;
  Launch launch_;
};

void prefill(const Heads& h, int64_t tokens, CpuDevice& device, double peak) {
  const Attention a{.heads = h.heads, .kv_heads = h.kv_heads, .head_dim = h.head_dim};
  const HostTensor q = filled(DType::kF32, {tokens, h.heads * h.head_dim}), offsets = integers({2}, {0, int32_t(tokens)});
  std::printf("%-9s prefill %5ld tokens, %d threads:", h.name, long(tokens), device.pool().size());
  const auto report = [&](const char* what, Runner& runner) {
    const double flops = 4.0 * h.heads * h.head_dim * double(tokens) * double(tokens + 1) / 2 / runner.best_seconds(0, {q});
    std::printf("  %s %6.1f GFLOP/s (%2.0f %%)", what, flops / 1e9, flops / 1e7 / peak);
  };
  const HostTensor k = filled(DType::kF32, {tokens, h.kv_heads * h.head_dim});
  Runner packed("attention", a, {q, k, k, offsets}, device);
  report("no cache", packed);
  const int64_t blocks = (tokens + kBlockTokens - 1) / kBlockTokens;
  std::vector<int32_t> table(static_cast<size_t>(blocks));
  std::iota(table.begin(), table.end(), 0);
  for (DType kv : {DType::kF32, DType::kF16, DType::kBF16}) {
    const Cache cache(kv, {blocks, 2, h.kv_heads, kBlockTokens, h.head_dim}, device);
    const HostTensor lengths = integers({1}, {int32_t(tokens)}), tables = integers({1, blocks}, table);
    Runner paged("paged_attention", a, {q, cache.tensor, offsets, lengths, tables}, device);
    report(std::string(name(kv)).c_str(), paged);
  }
  std::printf("\n");
}

void decode(const Heads& h, int64_t sequences, int64_t context, CpuDevice& device, double peak) {
  const Attention a{.heads = h.heads, .kv_heads = h.kv_heads, .head_dim = h.head_dim};
  std::printf("%-9s decode %ld x %5ld tokens, %d threads:", h.name, long(sequences), long(context), device.pool().size());
  for (DType kv : {DType::kF32, DType::kF16, DType::kBF16}) {
    const int64_t blocks = context / kBlockTokens, block_bytes = storage_bytes(kv, 2 * h.kv_heads * kBlockTokens * h.head_dim);
    const int64_t step_bytes = sequences * blocks * block_bytes, steps = std::max<int64_t>(1, (int64_t{256} << 20) / step_bytes);
    std::vector<int32_t> offsets(static_cast<size_t>(sequences + 1)), lengths(static_cast<size_t>(sequences), int32_t(context));
    std::iota(offsets.begin(), offsets.end(), 0);
    std::vector<int32_t> order(static_cast<size_t>(steps * sequences * blocks));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    std::vector<HostTensor> tables;
    for (int64_t s = 0; s < steps; ++s) {
      const auto first = order.begin() + s * sequences * blocks;
      tables.push_back(integers({sequences, blocks}, std::vector<int32_t>(first, first + sequences * blocks)));
    }
    const Cache cache(kv, {int64_t(order.size()), 2, h.kv_heads, kBlockTokens, h.head_dim}, device);
    const HostTensor q = filled(DType::kF32, {sequences, h.heads * h.head_dim}), begins = integers({sequences + 1}, offsets),
                     ends = integers({sequences}, lengths);
    Runner runner("paged_attention", a, {q, cache.tensor, begins, ends, tables[0]}, device);
    const double time = runner.best_seconds(4, tables), rate = double(step_bytes) / time / 1e9;
    std::printf("  %s %5.1f GB/s (%3.0f %%) %7.1f us", std::string(name(kv)).c_str(), rate, rate / peak * 100, time * 1e6);
  }
  std::printf("\n");
}

int bench(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all", threads = argc > 2 ? argv[2] : "1,2";
  for (size_t at = 0; at < threads.size(); at = std::min(threads.find(',', at), threads.size() - 1) + 1) {
    CpuDevice device({.num_threads = std::atoi(threads.c_str() + at)});
    const MachinePeak peak = measure_peak(device.pool(), device.isa(), DType::kF32);
    std::printf("%s: %.1f GB/s, %.1f GFLOP/s\n", device.name().c_str(), peak.read_gb_per_s, 2 * peak.gmac_per_s);
    if (what != "decode")
      for (const Heads& h : {kSmolLm2, kLlama1b, kLlama8b})
        for (int64_t tokens : {512, 2048}) prefill(h, tokens, device, peak.gmac_per_s * 2);
    if (what != "prefill")
      for (const Heads& h : {kSmolLm2, kLlama1b}) {
        for (int64_t context : {512, 2048, 8192}) decode(h, 1, context, device, peak.read_gb_per_s);
        decode(h, 8, 512, device, peak.read_gb_per_s);
      }
  }
  return 0;
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  try {
    return headrace::bench(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
