#include "device/cpu/cpu_features.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "headrace/types.h"

namespace headrace {
namespace {

struct IsaVariable {
  explicit IsaVariable(const char* value) { setenv("HEADRACE_CPU_ISA", value, 1); }
  ~IsaVariable() { unsetenv("HEADRACE_CPU_ISA"); }
};

TEST(CpuFeatures, TheBaselineAlwaysRuns) {
  ASSERT_FALSE(runnable_cpu_isas().empty());
  EXPECT_EQ(runnable_cpu_isas().front(), CpuIsa::kBaseline);
}

TEST(CpuFeatures, TheEnvironmentLowersTheChoice) {
  for (CpuIsa isa : runnable_cpu_isas()) {
    const IsaVariable variable(std::string(name(isa)).c_str());
    EXPECT_EQ(best_cpu_isa(), isa);
  }
}

TEST(CpuFeatures, AnUnknownNameIsAnError) {
  const IsaVariable variable("sse9");
  EXPECT_THROW(best_cpu_isa(), Error);
}

}  // namespace
}  // namespace headrace
