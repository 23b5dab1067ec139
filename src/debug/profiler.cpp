#include "debug/profiler.h"

#include <algorithm>

#include "core/json.h"
#include "debug/step_bytes.h"

namespace headrace {
namespace {

constexpr size_t kMostEvents = 2'000'000;

}  // namespace

Profiler::Profiler(const WatchedPlan& plan, double read_gb_per_s) : plan_(plan), read_gb_per_s_(read_gb_per_s), origin_(Clock::now()) {}

void Profiler::begin_run() { current_.clear(); }

void Profiler::after(size_t step, const Launch& launch) {
  step_ended_ = Clock::now();
  const double begin = since_origin(step_began_);
  current_.push_back({uint32_t(step), float(since_origin(step_ended_) - begin), begin, step_bytes(*plan_.steps[step].node, launch)});
}

void Profiler::end_run(const std::string& phase) {
  if (current_.empty()) return;
  const double begin = current_.front().begin, end = since_origin(step_ended_);
  Phase& p = phases_[phase];
  ++p.runs, p.seconds += (end - begin) / 1e6;
  for (const Event& e : current_) {
    Profile::Kernel& kernel = p.kernels[plan_.steps[e.step].kernel];
    ++kernel.calls, kernel.seconds += e.microseconds / 1e6, kernel.bytes += e.bytes;
  }
  if (events_.size() + current_.size() > kMostEvents) return;
  runs_.push_back({phase, begin, end, current_.size()});
  events_.insert(events_.end(), current_.begin(), current_.end());
}

Profile Profiler::profile() const {
  Profile profile{.read_gb_per_s = read_gb_per_s_};
  for (const auto& [name, phase] : phases_) {
    Profile::Phase& p = profile.phases.emplace_back(Profile::Phase{.name = name, .runs = phase.runs, .seconds = phase.seconds});
    for (const auto& [kernel_name, kernel] : phase.kernels) p.kernels.push_back(kernel), p.kernels.back().name = kernel_name;
    std::ranges::stable_sort(p.kernels, [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  }
  std::ranges::reverse(profile.phases);  // prefill before decode
  return profile;
}

// "Complete" events (ph X) of one thread: runs, and in them steps.
std::string Profiler::trace() const {
  const auto quoted = [](const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); };
  std::vector<std::string> names, about;  // of steps
  for (const WatchedPlan::Step& s : plan_.steps) {
    names.push_back(quoted(s.path));
    about.push_back(fmt::format("\"kernel\":{},\"result\":{}", quoted(s.kernel), quoted(s.types)));
  }
  std::string out =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"headrace\"}},\n"
      "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"runs\"}}";
  size_t next = 0;
  for (const Run& run : runs_) {
    out += fmt::format(",\n{{\"name\":{},\"cat\":\"run\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":{:.3f},\"dur\":{:.3f}}}",
                       quoted(run.phase), run.begin, run.end - run.begin);
    for (const size_t end = next + run.num_events; next < end; ++next) {
      const Event& e = events_[next];
      out += fmt::format(
          ",\n{{\"name\":{},\"cat\":{},\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{{},\"bytes\":{},"
          "\"GB/s\":{:.2f}}}}}",
          names[e.step], quoted(plan_.steps[e.step].op), e.begin, e.microseconds, about[e.step], e.bytes,
          double(e.bytes) / std::max(1e-3, double(e.microseconds)) / 1e3);
    }
  }
  return out + "\n]}\n";
}

}  // namespace headrace
