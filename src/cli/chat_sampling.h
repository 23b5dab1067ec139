// How a conversation's answers are sampled: what the command line says, else the model, else what suits chat; and /set, which changes it.
#pragma once

#include "cli/options.h"
#include "core/json.h"
#include "headrace/llm.h"

namespace headrace::cli {

// Values that say "not given", for the command line to overwrite.
SamplingParams sampling_not_given();

// Replaces what was not given. `generation` is the model's, as in weights/checkpoint.h. A model that says nothing on sampling is sampled
// with kChatSampling: greedy answers of small models go round in circles.
void complete_sampling(SamplingParams& sampling, const Json& generation);

inline const SamplingParams kChatSampling = {.temperature = 0.7f, .top_p = 0.95f, .min_p = 0.05f};
std::string describe(const SamplingParams& sampling);  // "temperature 0.7, top-p 0.95, min-p 0.05"

// The names that /set knows.
std::vector<std::string> setting_names();
// "temperature 0.5": returns the setting as it is then; "" returns all as they are, a line each. Throws Error for what is unknown or out of
// range, and then nothing has changed.
std::string change_setting(GenerateOptions& options, const std::string& words);

}  // namespace headrace::cli
