// Code of one's own between a model's logits and sampling: for each request that asks for it, before each token.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace headrace {

// What it does should depend on its options and arguments alone: then a request's result does not depend on what else runs.
class LogitsProcessor {
 public:
  virtual ~LogitsProcessor() = default;
  // tokens: prompt and output so far, the first num_prompt of them the prompt. logits: (vocabulary) after penalties, bias, min_tokens and
  // bad words, before temperature; to be changed, -infinity forbids a token. What it throws ends the request, and no other.
  // Called on one thread at a time, not always the same.
  virtual void process(std::span<const int32_t> tokens, int num_prompt, std::span<float> logits) = 0;
};

// Makes one for a request. `options`: JSON, or "". Throws Error(kInvalidArgument) for options that it does not understand: the request is
// then refused.
using MakeLogitsProcessor = std::function<std::unique_ptr<LogitsProcessor>(const std::string& options, int vocab_size)>;
using LogitsProcessors = std::map<std::string, MakeLogitsProcessor>;  // by the name that requests choose

}  // namespace headrace
