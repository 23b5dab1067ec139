// headrace bench: how fast a model runs, and how near to what the machine can do.
#include <sys/resource.h>

#include <algorithm>
#include <set>

#include "api/plan_model.h"
#include "cli/bench_run.h"
#include "cli/debug_options.h"
#include "cli/model_cost.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/roofline.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "core/new_file.h"
#include "device/cpu/cpu_features.h"
#include "measure/machine_peak.h"

namespace headrace::cli {
namespace {

struct BenchSettings {
  ModelOptions model;
  DebugSettings debug;
  std::string model_flag, svg;
  int prompt = 512, gen = 128, rounds = 3;
  std::vector<int32_t> batches, threads;
  bool json = false;
};

struct BenchResult {
  int threads;
  BenchCase c;
  BenchTimes times;
  double load_s;
  int64_t peak_rss_bytes;
};

int64_t peak_rss_bytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

// Room for the largest batch: the cache holds eight sequences of full length.
int context_for(const BenchSettings& s) {
  const int sequence = std::max(s.prompt, 1) + s.gen + 1 + 16;
  const int batch = *std::max_element(s.batches.begin(), s.batches.end());
  return std::max(sequence, (batch * sequence + 7) / 8);
}

std::vector<BenchResult> measure_all(const BenchSettings& s, ModelCost& cost) {
  std::vector<BenchResult> results;
  for (int threads : s.threads) {
    ModelOptions options = s.model;
    options.load.num_threads = threads;
    options.load.executor.prefix_cache = false;
    apply(s.debug, options.load);
    const double start = now_s();
    Engine engine = load_model(options);
    if (std::max(s.prompt, 1) + s.gen > engine.max_positions)
      invalid("{}: --prompt {} and --gen {} do not fit the {} tokens that it was made for; ask for fewer", options.path, s.prompt, s.gen,
              engine.max_positions);
    options.load.context = int(std::min<int64_t>(context_for(s), engine.max_positions));
    cost = cost_of(engine);
    auto model = std::make_unique<PlanModel>(
        std::move(engine), PlanModelOptions{.num_threads = threads, .context = options.load.context, .debugger = options.load.debugger});
    cost.read_bytes = model->plan().constant_bytes();
    Executor executor(std::move(model), options.load.executor);
    const double load_s = now_s() - start;
    for (int batch : s.batches) {
      if (errors_are_terminal()) fmt::print(stderr, "\rmeasuring {} threads, {} sequences ... ", threads, batch);
      const BenchCase c{batch, s.prompt, s.gen};
      results.push_back({threads, c, measure(executor, c, s.rounds), load_s, peak_rss_bytes()});
    }
    report(s.debug, options.load);
  }
  if (errors_are_terminal()) fmt::print(stderr, "\r\033[K");
  return results;
}

// ---------------------------------------------------------------------------------------------------------------- what is said of it

struct Shares {
  std::optional<double> bytes_per_token, gb_per_s, bandwidth_share;  // of decoding
  std::optional<double> prefill_gmac_per_s, product_share;           // of prefill
};

Shares shares_of(const BenchResult& r, const ModelCost& cost, const MachinePeak& peak) {
  Shares s;
  if (r.times.decode_tokens_per_s) {
    s.bytes_per_token = cost.step_bytes(r.c.batch, std::max(r.c.prompt, 1) + r.c.gen / 2.0) / r.c.batch;
    s.gb_per_s = *r.times.decode_tokens_per_s * *s.bytes_per_token / 1e9;
    s.bandwidth_share = *s.gb_per_s / peak.read_gb_per_s;
  }
  if (r.times.prefill_tokens_per_s) {
    s.prefill_gmac_per_s = *r.times.prefill_tokens_per_s * (double(cost.macs) + double(cost.logit_macs) / r.c.prompt) / 1e9;
    if (peak.gmac_per_s > 0) s.product_share = *s.prefill_gmac_per_s / peak.gmac_per_s;
  }
  return s;
}

OrderedJson number(const std::optional<double>& value) { return value ? OrderedJson(*value) : OrderedJson(); }

OrderedJson to_json(const BenchResult& r, const Shares& s, const MachinePeak& peak) {
  return {{"threads", r.threads},
          {"batch", r.c.batch},
          {"prompt", r.c.prompt},
          {"gen", r.c.gen},
          {"prefill_tokens_per_s", number(r.times.prefill_tokens_per_s)},
          {"decode_tokens_per_s", number(r.times.decode_tokens_per_s)},
          {"bytes_per_token", number(s.bytes_per_token)},
          {"read_gb_per_s", peak.read_gb_per_s},
          {"bandwidth_share", number(s.bandwidth_share)},
          {"peak_gmac_per_s", peak.gmac_per_s},
          {"product_share", number(s.product_share)},
          {"peak_rss_bytes", r.peak_rss_bytes},
          {"load_s", r.load_s}};
}

std::string table_line(const BenchResult& r, const Shares& s) {
  std::string line = fmt::format("{:>7} {:>6}", r.threads, r.c.batch);
  line += r.times.prefill_tokens_per_s ? fmt::format(" {:>14.1f} {:>9}", *r.times.prefill_tokens_per_s,
                                                     s.product_share ? fmt::format("{:.1f} %", 100 * *s.product_share) : "-")
                                       : fmt::format(" {:>14} {:>9}", "-", "-");
  line += r.times.decode_tokens_per_s
              ? fmt::format(" {:>14.1f} {:>7.1f} {:>8.1f} %", *r.times.decode_tokens_per_s, *s.gb_per_s, 100 * *s.bandwidth_share)
              : fmt::format(" {:>14} {:>7} {:>10}", "-", "-", "-");
  return line + fmt::format(" {:>9.1f}\n", double(r.peak_rss_bytes) / 1e6);
}

void add_points(Roofline& roofline, const BenchResult& r, const Shares& s, const ModelCost& cost) {
  const auto mark = [&] { return char('A' + roofline.points.size() % 26); };
  if (s.prefill_gmac_per_s) {
    const double macs = double(cost.macs) * r.c.prompt + double(cost.logit_macs);
    roofline.points.push_back(
        {mark(), fmt::format("prefill of {} x {} tokens", r.c.batch, r.c.prompt), macs / double(cost.read_bytes), *s.prefill_gmac_per_s});
  }
  if (r.times.decode_tokens_per_s) {
    const double macs = double(cost.macs + cost.logit_macs);
    roofline.points.push_back(
        {mark(), fmt::format("decode of {} at once", r.c.batch), macs / *s.bytes_per_token, *r.times.decode_tokens_per_s * macs / 1e9});
  }
}

int bench(BenchSettings& s) {
  ModelCost cost;
  const std::vector<BenchResult> results = measure_all(s, cost);
  std::map<int, MachinePeak> peaks;  // measured afterwards, so that their memory does not count
  for (int threads : s.threads) {
    ThreadPool pool(threads);
    peaks[threads] = measure_peak(pool, best_cpu_isa(), cost.dtype);
  }

  OrderedJson json = OrderedJson::array();
  std::string table =
      fmt::format("{}: {:.1f} M parameters, {:.1f} MB read per step, mostly {}; {}\n{:>7} {:>6} {:>14} {:>9} {:>14} {:>7} {:>10} {:>9}\n",
                  s.model.path, double(cost.num_parameters) / 1e6, double(cost.read_bytes) / 1e6, name(cost.dtype), name(best_cpu_isa()),
                  "threads", "batch", "prefill tok/s", "of peak", "decode tok/s", "GB/s", "of read", "peak MB");
  std::map<int, Roofline> rooflines;
  for (const BenchResult& r : results) {
    const MachinePeak& peak = peaks.at(r.threads);
    const Shares shares = shares_of(r, cost, peak);
    json.push_back(to_json(r, shares, peak));
    table += table_line(r, shares);
    Roofline& roofline = rooflines[r.threads];
    roofline.title = fmt::format("{} on {} thread{}", s.model.path, r.threads, r.threads == 1 ? "" : "s");
    roofline.read_gb_per_s = peak.read_gb_per_s, roofline.gmac_per_s = peak.gmac_per_s;
    add_points(roofline, r, shares, cost);
  }
  if (!s.svg.empty()) {
    const std::string svg = roofline_svg(rooflines.at(results.back().threads));
    NewFile file(s.svg);
    file.append(std::as_bytes(std::span(svg)));
    file.commit();
  }
  const BenchTimes& last = results.back().times;
  const double speed = last.decode_tokens_per_s.value_or(last.prefill_tokens_per_s.value_or(0));
  if (s.json) {
    write_output(OrderedJson{{"model", s.model.path}, {"tok_s", speed}, {"results", std::move(json)}}.dump(
                     -1, ' ', false, OrderedJson::error_handler_t::replace) +
                 "\n");
    return 0;
  }
  write_output(table);
  for (const auto& [threads, roofline] : rooflines) write_output("\n" + roofline_text(roofline));
  write_output(fmt::format("\n{} {:.2f} tok/s\n", last.decode_tokens_per_s ? "decode" : "prefill", speed));
  return 0;
}

// The command line, completed and checked.
void complete(BenchSettings& s) {
  if (s.model.path.empty()) s.model.path = s.model_flag;
  if (s.model.path.empty()) throw UsageError("MODEL is missing");
  if (s.batches.empty()) s.batches = {1};
  if (s.threads.empty()) s.threads = {ThreadPool().size()};
  for (int threads : s.threads) check_threads(threads);
  std::replace(s.threads.begin(), s.threads.end(), 0, ThreadPool().size());
  for (int batch : s.batches)
    if (batch < 1 || batch > 1024) throw UsageError(fmt::format("--batch: '{}' is not in range: 1 to 1024", batch));
  if (s.prompt < 0 || s.gen < 0 || s.prompt > 1'000'000 || s.gen > 1'000'000)
    throw UsageError("--prompt, --gen: must be between 0 and 1000000");
  if (s.prompt + s.gen == 0) throw UsageError("--prompt and --gen are both 0: nothing to measure");
  if (s.rounds < 1) throw UsageError("--rounds: at least 1");
}

}  // namespace

void declare_bench(Options& options) {
  const auto s = std::make_shared<BenchSettings>();
  options.positional("MODEL", s->model.path, "a Hugging Face folder, a .gguf file, an engine, or a config.json with --random-weights",
                     false);
  options.value("--model", "MODEL", s->model_flag, "the same");
  options.value("--prompt", "N", s->prompt, "tokens of each prompt (default: 512); 0: only decoding");
  options.value("--gen", "N", s->gen, "new tokens of each sequence (default: 128); 0: only the prompt");
  options.value("--batch", "LIST", s->batches, "sequences at once: 1,8 (default: 1)");
  options.value("--threads", "LIST", s->threads, "threads: 1,2 (default: one per core)");
  options.value("--rounds", "N", s->rounds, "the median of N rounds counts (default: 3)");
  declare_dtype(options, s->model);
  declare_checkpoint(options, s->model);
  declare_random_weights(options, s->model);
  declare_plugins(options, s->model);
  options.value("--svg", "FILE", s->svg, "draws the roofline");
  options.flag("--json", s->json, "figures as JSON");
  declare_profile(options, s->debug);
  declare_passes(options, s->debug);
  options.footer(
      "Tokens are random, their end is ignored. Read bandwidth and peak of products are measured in the same run, on as many threads. "
      "Bytes per token are those that kernels read: of weights as they are packed (in a file they may be more or fewer: 'inspect' "
      "counts them there), and of the cache.");
  options.run([s] {
    complete(*s);
    return bench(*s);
  });
}

}  // namespace headrace::cli
