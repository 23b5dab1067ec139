// How tokens are chosen and when they end, on the command line.
#pragma once

#include "cli/options.h"
#include "headrace/llm.h"

namespace headrace::cli {

// `otherwise`: what happens without any of them, for the help.
void declare_sampling(Options& options, SamplingParams& sampling, const std::string& otherwise = "greedy unless --temperature is above 0");
// Sampling, lengths, stops and log-probabilities.
void declare_generate(Options& options, GenerateOptions& generate, const std::string& otherwise = "greedy unless --temperature is above 0");

}  // namespace headrace::cli
