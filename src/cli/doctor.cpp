// headrace doctor: what this machine has, and what Headrace makes of it.
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "device/cpu/cpu_features.h"
#include "measure/machine_peak.h"

namespace headrace::cli {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of "KEY: value" in a file such as /proc/cpuinfo.
std::string value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

int allowed_cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::string isa_reason() {
  const char* forced = std::getenv("HEADRACE_CPU_ISA");
  return forced && *forced ? fmt::format("HEADRACE_CPU_ISA={}", printable(forced))
                           : "the best that this processor runs; HEADRACE_CPU_ISA can force a lower one";
}

OrderedJson examine() {
  OrderedJson runnable = OrderedJson::array();
  for (CpuIsa isa : runnable_cpu_isas()) runnable.push_back(std::string(name(isa)));
  ThreadPool pool;
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  return {{"version", version()},
          {"cpu", value_in("/proc/cpuinfo", "model name")},
          {"cpu_flags", cpu_flags()},
          {"isa", std::string(name(best_cpu_isa()))},
          {"isa_reason", isa_reason()},
          {"isas_runnable", std::move(runnable)},
          {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
          {"cores_allowed", allowed_cores()},
          {"threads", pool.size()},
          {"memory_bytes", ::sysconf(_SC_PHYS_PAGES) * page},
          {"memory_available_bytes", int64_t{1024} * std::atoll(value_in("/proc/meminfo", "MemAvailable").c_str())},
          {"huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
          {"read_gb_per_s", measure_read_gb_per_s(pool, {.bytes = int64_t{256} << 20, .rounds = 4})},
          {"cuda", "no CUDA backend in this build: models run on the CPU"}};
}

int doctor(bool json) {
  const OrderedJson findings = examine();
  if (json) {
    write_output(findings.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
    return 0;
  }
  for (const auto& [key, value] : findings.items())
    write_output(fmt::format("{:<24}{}{}\n", key,
                             value.is_string()         ? value.get<std::string>()
                             : value.is_array()        ? fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), " "))
                             : value.is_number_float() ? fmt::format("{:.1f}", value.get<double>())
                                                       : value.dump(),
                             key.ends_with("_bytes") ? fmt::format(" ({})", in_units(value.get<double>())) : ""));
  return 0;
}

}  // namespace

void declare_doctor(Options& options) {
  const auto json = std::make_shared<bool>(false);
  options.flag("--json", *json, "findings as JSON");
  options.run([json] { return doctor(*json); });
}

}  // namespace headrace::cli
