// What debugging found, as tables for people.
#include <fmt/format.h>

#include <algorithm>

#include "headrace/debug.h"

namespace headrace {

std::string to_text(std::span<const KernelCheck> checks) {
  size_t width = 6;
  for (const KernelCheck& c : checks) width = std::max(width, c.kernel.size());
  std::string out =
      fmt::format("{:<{}}  {:>7}  {:>9}  {:>9}  {:>8}  worst at\n", "kernel", width, "calls", "absolute", "relative", "bound");
  for (const KernelCheck& c : checks)
    out += c.calls == 0 ? fmt::format("{:<{}}  {:>7}  not checked: it did not run, or its op has no reference\n", c.kernel, width, 0)
                        : fmt::format("{:<{}}  {:>7}  {:>9.2g}  {:>9.2g}  {:>8.2g}  {}{}\n", c.kernel, width, c.calls, c.absolute,
                                      c.relative, c.bound, c.value, c.fits() ? "" : "  BEYOND THE BOUND");
  return out;
}

std::string to_text(const Profile& profile) {
  std::string out;
  for (const Profile::Phase& phase : profile.phases) {
    size_t width = 6;
    for (const Profile::Kernel& k : phase.kernels) width = std::max(width, k.name.size());
    const double runs = double(std::max<int64_t>(phase.runs, 1));
    const bool knows_memory = profile.read_gb_per_s > 0;
    out += fmt::format("{}{}: {} run{}, {:.3f} ms each\n", out.empty() ? "" : "\n", phase.name, phase.runs, phase.runs == 1 ? "" : "s",
                       phase.seconds / runs * 1e3);
    out += fmt::format("{:<{}}  {:>9}  {:>9}  {:>6}  {:>9}  {:>7}{}\n", "kernel", width, "calls/run", "ms/run", "share", "MB/run", "GB/s",
                       knows_memory ? "  of memory" : "");
    double seconds = 0;
    int64_t bytes = 0, calls = 0;
    const auto row = [&](const std::string& name, double num_calls, double s, double num_bytes) {
      const double speed = s > 0 ? num_bytes / s / 1e9 : 0;
      out += fmt::format("{:<{}}  {:>9.4g}  {:>9.3f}  {:>5.1f}%  {:>9.3f}  {:>7.2f}", name, width, num_calls / runs, s / runs * 1e3,
                         phase.seconds > 0 ? s / phase.seconds * 100 : 0, num_bytes / runs / 1e6, speed);
      out += knows_memory ? fmt::format("  {:>8.0f}%\n", speed / profile.read_gb_per_s * 100) : "\n";
    };
    for (const Profile::Kernel& k : phase.kernels) {
      row(k.name, double(k.calls), k.seconds, double(k.bytes));
      seconds += k.seconds, bytes += k.bytes, calls += k.calls;
    }
    out += fmt::format("{:<{}}  {:>9}  {:>9.3f}  {:>5.1f}%\n", "between", width, "", (phase.seconds - seconds) / runs * 1e3,
                       phase.seconds > 0 ? (phase.seconds - seconds) / phase.seconds * 100 : 0);
    row("all", double(calls), phase.seconds, double(bytes));
  }
  if (profile.read_gb_per_s > 0) out += fmt::format("\nmemory is read at {:.1f} GB/s at most\n", profile.read_gb_per_s);
  return out;
}

}  // namespace headrace
