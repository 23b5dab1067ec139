#include <mutex>

#include "core/error.h"
#include "core/new_file.h"
#include "debug/kernel_checker.h"
#include "debug/profiler.h"
#include "debug/value_dump.h"
#include "device/cpu/cpu_device.h"
#include "headrace/debug.h"
#include "lowering/weight_parameters.h"
#include "measure/machine_peak.h"

namespace headrace {

// One plan's observer for all that was asked for.
struct Debugger::Impl : PlanObserver {
  explicit Impl(DebugOptions asked) : options(std::move(asked)) {
    if (!options.dump_directory.empty()) dump.emplace(options.dump_directory);
  }

  void begin_run() override {
    phase = std::exchange(next_phase, "run");
    if (profiler) profiler->begin_run();
    if (!dump) return;
    dump->begin_run(run, phase);
    for (const RunValues::Value& v : inputs()) dump->write("input", v.name, v.tensor);
  }
  // The profiler's clock starts last and stops first.
  void before(size_t step, const Launch& launch) override {
    if (checker) checker->before(step, launch);
    if (profiler) profiler->before();
  }
  void after(size_t step, const Launch& launch) override {
    if (profiler) profiler->after(step, launch);
    if (dump && options.dump_steps) dump_step(step, launch);
    if (!checker) return;
    const std::lock_guard lock(mutex);
    checker->after(step, launch);
  }
  void end_run() override {
    if (dump) {
      for (const RunValues::Value& v : outputs()) dump->write("output", v.name, v.tensor);
      dump->end_run();
    }
    if (options.on_run) options.on_run({run, phase, inputs(), outputs()});
    ++run;
    if (!profiler) return;
    const std::lock_guard lock(mutex);
    profiler->end_run(phase);
  }

  // States are left out: what a step changed in place is a cache, not a result. Outputs follow at the end.
  void dump_step(size_t step, const Launch& launch) {
    const WatchedPlan::Step& s = plan->steps[step];
    const int in_place = s.node->op().in_place_operand;
    for (size_t i = 0; i < launch.outputs.size(); ++i)
      if ((i > 0 || in_place < 0) && !s.node->output(int(i)).is_output())
        dump->write("step", i == 0 ? s.path : fmt::format("{}.{}", s.path, i), launch.outputs[i]);
  }
  std::vector<RunValues::Value> inputs() const {
    std::vector<RunValues::Value> values;
    for (const Value& v : plan->plan.program().leaves(Leaf::kInput))
      if (!v.users().empty()) values.push_back({v.name(), plan->plan.tensor(v)});
    return values;
  }
  std::vector<RunValues::Value> outputs() const {
    std::vector<RunValues::Value> values;
    for (const Graph::Output& o : plan->plan.program().outputs()) values.push_back({o.name, plan->plan.tensor(o.value)});
    return values;
  }

  const DebugOptions options;
  std::optional<WatchedPlan> plan;
  std::optional<ValueDump> dump;
  std::optional<Profiler> profiler;
  std::optional<KernelChecker> checker;
  int64_t run = 0;
  std::string phase, next_phase = "run";
  mutable std::mutex mutex;  // results, which other threads ask for
};

Debugger::Debugger(DebugOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Debugger::~Debugger() = default;

const DebugOptions& Debugger::options() const { return impl_->options; }

void Debugger::watch(Plan& plan, std::shared_ptr<const WeightSource> weights, bool exact) {
  const std::lock_guard lock(impl_->mutex);
  impl_->profiler.reset(), impl_->checker.reset();
  impl_->plan.emplace(plan);
  if (impl_->options.profile) {
    auto* cpu = dynamic_cast<CpuDevice*>(&plan.device());
    impl_->profiler.emplace(*impl_->plan, cpu ? measure_read_gb_per_s(cpu->pool(), {.bytes = int64_t{128} << 20, .rounds = 4}) : 0);
  }
  if (impl_->options.check) {
    const Graph nothing_declared(plan.program().shared_ops());  // the plan's maker has compared weights with what it declares
    impl_->checker.emplace(*impl_->plan, std::make_unique<WeightParameters>(nothing_declared, std::move(weights)), exact);
  }
  plan.observe(impl_.get());
}

void Debugger::name_next_run(const std::string& phase) { impl_->next_phase = phase; }

std::vector<KernelCheck> Debugger::checks() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->checker ? impl_->checker->checks() : std::vector<KernelCheck>();
}

Profile Debugger::profile() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->profiler ? impl_->profiler->profile() : Profile();
}

void Debugger::write_trace(const std::string& path) const {
  if (!impl_->options.profile) invalid("{}: a trace wants DebugOptions::profile", path);
  std::string trace = "{\"traceEvents\":[]}\n";
  if (const std::lock_guard lock(impl_->mutex); impl_->profiler) trace = impl_->profiler->trace();
  NewFile file(path);
  file.append(std::as_bytes(std::span(trace)));
  file.commit();
}

}  // namespace headrace
