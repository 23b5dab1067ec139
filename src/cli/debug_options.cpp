#include "cli/debug_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/glob.h"
#include "headrace/compile.h"
#include "ops/reference.h"

namespace headrace::cli {
namespace {

// "decode 3  model.layers.0.mlp  f32[1, 576]  -0.713 to 0.921, mean 0.002: 0.013 -0.25 ..."
std::string line_of(const RunValues& run, const RunValues::Value& value) {
  constexpr size_t kShown = 6;
  const std::vector<float> x = read_floats(contiguous_copy(value.tensor));
  std::string line =
      fmt::format("{} {}  {}  {}{}", run.phase, run.run, value.name, name(value.tensor.dtype), value.tensor.sizes.to_string());
  if (x.empty()) return line + "\n";
  const auto [low, high] = std::ranges::minmax(x);
  double sum = 0;
  for (float v : x) sum += v;
  line += fmt::format("  {:.4g} to {:.4g}, mean {:.4g}:", low, high, sum / double(x.size()));
  for (size_t i = 0; i < std::min(kShown, x.size()); ++i) line += fmt::format(" {:.4g}", x[i]);
  return line + (x.size() > kShown ? " ...\n" : "\n");
}

}  // namespace

void declare_passes(Options& options, DebugSettings& debug) {
  options.value("--skip-pass", "NAME", debug.skip_passes, "leaves a pass of the compiler out; may be repeated");
  options.value("--dump-passes", "DIR", debug.dump_passes, "writes the graph after each pass, as text");
}

void declare_profile(Options& options, DebugSettings& debug) {
  options.flag("--profile", debug.profile, "time, bytes and share of the memory's speed of each kernel, to standard error");
  options.value("--trace", "FILE.json", debug.trace, "every step of every run, for Perfetto or chrome://tracing");
}

void declare_debug(Options& options, DebugSettings& debug) {
  options.heading("Debugging");
  options.value(
      "--mark", "NAME", debug.marks,
      "an inner value, by its name or a glob: model.layers.3.*; a line for each run to standard error, unless --debug-dump; may be "
      "repeated");
  options.value("--debug-dump", "DIR", debug.dump, "writes marked values, or without marks what each step computes, as .npy files");
  options.flag("--check", debug.check, "runs each kernel beside its reference, which is slow; exits with 1 if they differ too much");
  declare_profile(options, debug);
  declare_passes(options, debug);
}

void apply(const DebugSettings& debug, LoadOptions& load) {
  if (!debug.marks.empty() || !debug.skip_passes.empty() || !debug.dump_passes.empty()) {
    auto passes = std::make_shared<CompileOptions>(CompileOptions{.marks = debug.marks, .skip_passes = debug.skip_passes});
    if (!debug.dump_passes.empty()) passes->observer = pass_writer(debug.dump_passes);
    load.passes = std::move(passes);
  }
  const bool shows_marks = !debug.marks.empty() && debug.dump.empty();
  if (!shows_marks && debug.dump.empty() && !debug.check && !debug.profile && debug.trace.empty()) return;
  DebugOptions options{.dump_directory = debug.dump,
                       .dump_steps = debug.marks.empty(),
                       .check = debug.check,
                       .profile = debug.profile || !debug.trace.empty()};
  if (shows_marks)
    options.on_run = [marks = debug.marks](const RunValues& run) {
      for (const RunValues::Value& v : run.outputs)
        if (std::ranges::any_of(marks, [&](const std::string& mark) { return matches_glob(mark, v.name); }))
          fmt::print(stderr, "{}", line_of(run, v));
    };
  load.debugger = std::make_shared<Debugger>(std::move(options));
}

int report(const DebugSettings& debug, const LoadOptions& load) {
  if (!load.debugger) return 0;
  if (debug.profile) fmt::print(stderr, "{}", to_text(load.debugger->profile()));
  if (!debug.trace.empty()) load.debugger->write_trace(debug.trace);
  if (!debug.check) return 0;
  const std::vector<KernelCheck> checks = load.debugger->checks();
  fmt::print(stderr, "{}", to_text(checks));
  return std::ranges::all_of(checks, [](const KernelCheck& c) { return c.fits(); }) ? 0 : 1;
}

}  // namespace headrace::cli
