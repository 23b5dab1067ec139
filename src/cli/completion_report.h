// A completion as 'headrace run --json' prints it, and its speed in words.
#pragma once

#include <string>

#include "headrace/llm.h"

namespace headrace::cli {

struct Speeds {
  double load_s = 0;
  std::optional<double> ttft_s, prefill_tokens_per_s, decode_tokens_per_s;
};
Speeds speeds_of(const Completion& completion, double load_s);

// The line of --stats.
std::string speed_line(const Completion& completion, const Speeds& speeds);
std::string completion_json(const Completion& completion, const GenerateOptions& options, const Speeds& speeds);

}  // namespace headrace::cli
