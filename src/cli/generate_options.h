// How tokens are chosen and when they end, on the command line.
#pragma once

#include "cli/options.h"
#include "headrace/llm.h"

namespace headrace::cli {

void declare_sampling(Options& options, SamplingParams& sampling);
// Sampling, lengths, stops and log-probabilities.
void declare_generate(Options& options, GenerateOptions& generate);

}  // namespace headrace::cli
