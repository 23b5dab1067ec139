// How fast fused linears run over a whole model's matrices, next to what the machine can do.
//   headrace_linear_bench [smollm2|llama1b] [types, comma-separated] [rows, comma-separated] [threads, comma-separated]
// One pass is what a token (or a step of `rows` tokens) costs without attention: per layer q k v, o, gate up, down, then the head for
// one row per sequence (for more than 64 rows: one). Weights are larger than the caches and streamed in the model's order.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "core/blocks.h"
#include "core/error.h"
#include "cpu_linear/fused_linear.h"
#include "measure/machine_peak.h"

namespace headrace {
namespace {

struct ModelShape {
  int64_t hidden, kv, ffn, layers, vocab;
};
ModelShape shape_of(const std::string& name) {
  if (name == "smollm2") return {576, 192, 1536, 30, 49152};
  if (name == "llama1b") return {2048, 512, 8192, 16, 128256};
  invalid("unknown model '{}': wanted smollm2 or llama1b", name);
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Layer {
  PackedMatrix q, k, v, o, gate, up, down;
  LinearSpec qkv_spec, o_spec, gate_up_spec, down_spec;
};

// Packed random weights of a model and what it takes to run them.
class Model {
 public:
  Model(const ModelShape& shape, DType dtype, CpuIsa isa, ThreadPool& pool)
      : shape_(shape), norm_(size_t(shape.hidden), 1.0f), layers_(size_t(shape.layers)) {
    const auto arena = std::make_shared<HugePageArena>();
    const auto matrix = [&](int64_t n, int64_t k) {
      PackedMatrix m = PackedMatrix::pack(random_matrix(dtype, n, k), isa, Arithmetic::kFast, arena, pool);
      bytes_ += m.bytes();
      macs_ += n * k;
      return m;
    };
    const LinearNorm norm{.kind = NormKind::kRms, .weight = norm_.data(), .eps = 1e-5f};
    for (Layer& l : layers_) {
      l.q = matrix(shape.hidden, shape.hidden);
      l.k = matrix(shape.kv, shape.hidden);
      l.v = matrix(shape.kv, shape.hidden);
      l.o = matrix(shape.hidden, shape.hidden);
      l.gate = matrix(shape.ffn, shape.hidden);
      l.up = matrix(shape.ffn, shape.hidden);
      l.down = matrix(shape.hidden, shape.ffn);
      l.qkv_spec = {.weights = {&l.q, &l.k, &l.v}, .norm = norm};
      l.o_spec = {.weights = {&l.o}};
      l.gate_up_spec = {.weights = {&l.gate, &l.up}, .combine = Combine::kGated, .activation = LinearActivation::kSilu, .norm = norm};
      l.down_spec = {.weights = {&l.down}};
    }
    layer_macs_ = macs_;
    head_ = matrix(shape.vocab, shape.hidden);
    head_spec_ = {.weights = {&head_}, .norm = norm};
  }

  int64_t bytes() const { return bytes_; }
  int64_t macs(int64_t rows) const { return layer_macs_ * rows + (macs_ - layer_macs_) * head_rows(rows); }

  // Seconds per pass, the best of several.
  double time(ThreadPool& pool, int64_t rows) {
    const ModelShape& s = shape_;
    std::vector<float> x(size_t(rows * s.hidden), 0.5f), qkv(size_t(rows * (s.hidden + 2 * s.kv))), mid(size_t(rows * s.ffn)),
        logits(size_t(head_rows(rows) * s.vocab));
    int64_t scratch = 0;
    for (const LinearSpec* spec : {&layers_[0].qkv_spec, &layers_[0].down_spec, &head_spec_, &layers_[0].gate_up_spec})
      scratch = std::max(scratch, workspace_bytes(*spec, rows, pool.size()));
    const HostTensor workspace(DType::kU8, {scratch});
    std::byte* w = workspace.as<std::byte>();
    double best = 1e9;
    const double until = seconds() + 1.0;
    for (int round = 0; round < 4 || seconds() < until; ++round) {
      const double start = seconds();
      pool.run([&](Team& team) {
        for (const Layer& l : layers_) {
          fused_linear(team, l.qkv_spec, {x.data(), s.hidden, rows, qkv.data(), s.hidden + 2 * s.kv}, w);
          team.barrier();
          fused_linear(team, l.o_spec, {qkv.data(), s.hidden + 2 * s.kv, rows, x.data(), s.hidden, x.data(), s.hidden}, w);
          team.barrier();
          fused_linear(team, l.gate_up_spec, {x.data(), s.hidden, rows, mid.data(), s.ffn}, w);
          team.barrier();
          fused_linear(team, l.down_spec, {mid.data(), s.ffn, rows, x.data(), s.hidden, x.data(), s.hidden}, w);
          team.barrier();
        }
        fused_linear(team, head_spec_, {x.data(), s.hidden, head_rows(rows), logits.data(), s.vocab}, w);
      });
      best = std::min(best, seconds() - start);
    }
    return best;
  }

 private:
  static int64_t head_rows(int64_t rows) { return rows > 64 ? 1 : rows; }

  // Random values repeated, for speed of setting up.
  static HostTensor random_matrix(DType dtype, int64_t n, int64_t k) {
    constexpr int64_t kValues = 1 << 16;
    static std::mt19937 generator(1);
    std::normal_distribution<float> normal(0, 0.02f);
    std::vector<float> values(kValues);
    for (float& v : values) v = normal(generator);
    std::vector<std::byte> bytes(size_t(storage_bytes(dtype, kValues)));
    from_float(dtype, values.data(), bytes.data(), kValues);
    HostTensor m(dtype, {n, k});
    for (size_t at = 0, total = size_t(m.view().bytes()); at < total; at += bytes.size())
      std::memcpy(m.as<std::byte>() + at, bytes.data(), std::min(bytes.size(), total - at));
    return m;
  }

  ModelShape shape_;
  std::vector<float> norm_;
  std::vector<Layer> layers_;
  PackedMatrix head_;
  LinearSpec head_spec_;
  int64_t bytes_ = 0, macs_ = 0, layer_macs_ = 0;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',') parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

void bench_threads(Model& model, DType dtype, CpuIsa isa, const std::string& rows_list, int threads) {
  ThreadPool pool(threads);
  pool.pin_caller();
  const MachinePeak peak = measure_peak(pool, isa, dtype);
  for (const std::string& r : split(rows_list)) {
    const int64_t rows = std::stoll(r);
    const double t = model.time(pool, rows);
    const double read = double(model.bytes()) / t / 1e9, macs = double(model.macs(rows)) / t / 1e9;
    std::printf("%-6s %7d %5s %9.3f %9.1f %7.1f %5.0f%% %8.0f %5.0f%%\n", name(dtype).data(), threads, r.c_str(), t * 1e3, double(rows) / t,
                read, 100 * read / peak.read_gb_per_s, macs, 100 * macs / peak.gmac_per_s);
    std::fflush(stdout);
  }
}

void bench(const std::string& model_name, const std::string& types, const std::string& rows_list, const std::string& threads_list) {
  const CpuIsa isa = best_cpu_isa();
  std::printf("%s on %s\n%-6s %7s %5s %9s %9s %7s %6s %8s %6s\n", model_name.c_str(), name(isa).data(), "type", "threads", "rows", "ms",
              "tokens/s", "GB/s", "share", "GMAC/s", "share");
  for (const std::string& type : split(types)) {
    const std::optional<DType> dtype = parse_dtype(type);
    if (!dtype) invalid("unknown type '{}'", type);
    ThreadPool packers;
    Model model(shape_of(model_name), *dtype, isa, packers);
    for (const std::string& threads : split(threads_list))  // each on a thread of its own, which may be pinned
      std::thread([&] { bench_threads(model, *dtype, isa, rows_list, std::stoi(threads)); }).join();
  }
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  const auto arg = [&](int i, const char* fallback) { return std::string(argc > i ? argv[i] : fallback); };
  try {
    headrace::bench(arg(1, "smollm2"), arg(2, "q8_0,q4_1,bf16"), arg(3, "1,8,512"), arg(4, "1,2"));
  } catch (const headrace::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
