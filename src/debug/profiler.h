// Where the time of runs goes: a stamp before and after each step.
#pragma once

#include <chrono>
#include <map>
#include <unordered_map>
#include <vector>

#include "debug/watched_plan.h"
#include "headrace/debug.h"

namespace headrace {

class Profiler {
 public:
  Profiler(const WatchedPlan& plan, double read_gb_per_s);
  void begin_run();
  void before() { step_began_ = Clock::now(); }
  void after(size_t step, const Launch& launch);
  // `profile` and `trace` take in the run that has ended.
  void end_run(const std::string& phase);

  Profile profile() const;
  std::string trace() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Event {
    uint32_t step;
    float microseconds;
    double begin;  // microseconds since the first run began
    int64_t bytes;
  };
  struct Run {
    std::string phase;
    double begin, end;  // microseconds
    size_t num_events;
  };
  double since_origin(Clock::time_point t) const { return std::chrono::duration<double, std::micro>(t - origin_).count(); }

  const WatchedPlan& plan_;
  double read_gb_per_s_;
  Clock::time_point origin_, step_began_, step_ended_;
  std::vector<Event> current_;  // of the run that goes on
  std::vector<Event> events_;
  std::vector<Run> runs_;
  struct Phase {
    int64_t runs = 0;
    double seconds = 0;
    std::map<std::string, Profile::Kernel> kernels;
  };
  std::map<std::string, Phase> phases_;
};

}  // namespace headrace
