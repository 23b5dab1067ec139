// What a model is asked: exactly one of -p, --prompt-ids, --chat and standard input.
#pragma once

#include <optional>

#include "cli/options.h"
#include "headrace/llm.h"

namespace headrace::cli {

struct PromptOptions {
  std::optional<std::string> text, chat, system;
  std::vector<int32_t> ids;
  bool has_ids = false;
  bool no_bos = false, parse_special = false;
};

void declare_prompt(Options& options, PromptOptions& prompt);

// Reads standard input if nothing else was given; a newline at its end is not part of the prompt. Throws UsageError when two were given,
// or none and standard input is a terminal.
void complete_prompt(PromptOptions& prompt);

}  // namespace headrace::cli
