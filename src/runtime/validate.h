// Requests and options are checked before they reach the loop, so that nothing in it can go wrong because of them.
#pragma once

#include "headrace/executor.h"
#include "runtime/model.h"

namespace headrace::runtime {

// The longest prompt and output together: what positions and KV blocks allow.
int max_context(const ModelLimits& limits);

// Throws Error(kInvalidArgument): field, found, wanted, what to do.
void validate(const Request& request, const ModelLimits& limits);

// Those that a request has chosen, made for it. Throws Error: an unknown name, or what the making throws, which is named.
std::vector<std::unique_ptr<LogitsProcessor>> make_processors(const SamplingParams& params, const LogitsProcessors& known, int vocab_size);

// `options` with every 0 replaced by what it stands for, and nothing beyond the model's limits. Throws Error(kInvalidArgument).
ExecutorOptions resolve(ExecutorOptions options, const ModelLimits& limits);

}  // namespace headrace::runtime
