#include "device/cpu/cpu_features.h"

#include <cstdlib>
#include <optional>
#include <string>

#include "core/error.h"

namespace headrace {
namespace {

constexpr CpuIsa kAll[] = {CpuIsa::kBaseline, CpuIsa::kAvx2, CpuIsa::kAvx512Vnni, CpuIsa::kAvx512Bf16};

struct Flag {
  const char* name;
  bool present;
};

// __builtin_cpu_supports asks cpuid, and xgetbv whether the operating system saves the registers.
#if defined(__x86_64__)
#define HEADRACE_FLAG(x) \
  Flag { x, __builtin_cpu_supports(x) != 0 }
std::vector<Flag> flags() {
  return {HEADRACE_FLAG("avx"),      HEADRACE_FLAG("avx2"),       HEADRACE_FLAG("fma"),       HEADRACE_FLAG("f16c"),
          HEADRACE_FLAG("bmi2"),     HEADRACE_FLAG("avx512f"),    HEADRACE_FLAG("avx512bw"),  HEADRACE_FLAG("avx512dq"),
          HEADRACE_FLAG("avx512vl"), HEADRACE_FLAG("avx512vnni"), HEADRACE_FLAG("avx512bf16")};
}
#undef HEADRACE_FLAG
#else
std::vector<Flag> flags() { return {}; }
#endif

bool has_all(std::initializer_list<std::string_view> wanted) {
  const std::vector<Flag> present = flags();
  for (std::string_view w : wanted) {
    bool found = false;
    for (const Flag& f : present) found |= f.present && f.name == w;
    if (!found) return false;
  }
  return true;
}

bool runs(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kBaseline: return true;
    case CpuIsa::kAvx2: return has_all({"avx2", "fma", "f16c", "bmi2"});
    case CpuIsa::kAvx512Vnni: return runs(CpuIsa::kAvx2) && has_all({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni"});
    case CpuIsa::kAvx512Bf16: return runs(CpuIsa::kAvx512Vnni) && has_all({"avx512bf16"});
  }
  return false;
}

}  // namespace

std::string_view name(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kBaseline: return "baseline";
    case CpuIsa::kAvx2: return "avx2";
    case CpuIsa::kAvx512Vnni: return "avx512vnni";
    case CpuIsa::kAvx512Bf16: return "avx512bf16";
  }
  return "?";
}

std::vector<CpuIsa> runnable_cpu_isas() {
  std::vector<CpuIsa> isas;
  for (CpuIsa isa : kAll)
    if (runs(isa)) isas.push_back(isa);
  return isas;
}

CpuIsa best_cpu_isa() {
  const CpuIsa best = runnable_cpu_isas().back();
  const char* wanted = std::getenv("HEADRACE_CPU_ISA");
  if (!wanted || !*wanted) return best;
  for (CpuIsa isa : kAll) {
    if (wanted != name(isa)) continue;
    if (!runs(isa)) fail(ErrorCode::kUnsupported, "HEADRACE_CPU_ISA={}: this machine runs at most {}", wanted, name(best));
    return isa;
  }
  invalid("HEADRACE_CPU_ISA={}: wanted baseline, avx2, avx512vnni or avx512bf16", printable(wanted));
}

std::string cpu_flags() {
  std::string text;
  for (const Flag& f : flags())
    if (f.present) text += (text.empty() ? "" : " ") + std::string(f.name);
  return text;
}

}  // namespace headrace
