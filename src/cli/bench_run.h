// One measurement of 'headrace bench': sequences of random tokens through an Executor, timed.
#pragma once

#include "headrace/executor.h"

namespace headrace::cli {

struct BenchCase {
  int batch = 1;   // sequences at once
  int prompt = 0;  // tokens of each; 0: only decoding is measured
  int gen = 0;     // new tokens of each after the first; 0: only the prompt is measured
};

struct BenchTimes {
  std::optional<double> prefill_tokens_per_s;  // of all prompts together, until the last first token
  std::optional<double> decode_tokens_per_s;   // of all sequences, while all of them decode
};

// The median of several rounds. The Executor must not cache prefixes.
BenchTimes measure(Executor& executor, const BenchCase& c, int rounds);

}  // namespace headrace::cli
