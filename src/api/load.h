// From a path to something that runs.
#pragma once

#include "headrace/chat_template.h"
#include "headrace/engine.h"
#include "headrace/executor.h"

namespace headrace {

// What a model needs besides its Executor to speak text. All of it may be absent.
struct ModelText {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const ChatTemplate> chat_template;
  std::string chat_template_error;  // why it is null though there is one: all but chat works without
};
ModelText load_text(const Engine& engine);

// The engine's end tokens and, unless null, the tokenizer's end a sequence, unless the options name others.
std::unique_ptr<Executor> make_executor(Engine engine, const Tokenizer* tokenizer, const LoadOptions& options);

}  // namespace headrace
