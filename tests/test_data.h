// Where whole-system tests find data: the project's own small models, and a larger set that is not part of the project.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace headrace {

// HEADRACE_TEST_DATA, else ../shared beside the source tree; empty when absent.
inline std::string shared_data() {
  const char* set = std::getenv("HEADRACE_TEST_DATA");
  const std::string path = set ? set : HEADRACE_SOURCE_DIR "/../shared";
  return std::filesystem::exists(path) ? path : "";
}

// The project's own.
inline std::string own_data() { return HEADRACE_SOURCE_DIR "/tests/data"; }

}  // namespace headrace

// Skips the test, saying so, when the larger set is absent.
#define HEADRACE_NEED_SHARED_DATA() \
  if (headrace::shared_data().empty()) GTEST_SKIP() << "NOT RUN: no test data at HEADRACE_TEST_DATA or ../shared"
