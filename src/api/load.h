// From a path to something that runs: an engine is read, anything else is built in memory.
#pragma once

#include "engine/engine.h"
#include "headrace/llm.h"
#include "jinja/chat_template.h"
#include "text/tokenizer.h"

namespace headrace {

// A Hugging Face folder, a .gguf file or an engine. Throws Error; also for a device or dtype that is not known.
Engine load_engine(const std::string& path, const LoadOptions& options = {});

// What a model needs besides its Executor, shared by those who speak text with it.
struct ModelText {
  std::shared_ptr<const Tokenizer> tokenizer;                // null when the model comes without one
  std::shared_ptr<const jinja::ChatTemplate> chat_template;  // may be null
  std::string template_error;                                // why it is null though there is one: all but chat works without
};
ModelText load_text(const Engine& engine);

std::unique_ptr<Executor> make_executor(Engine engine, const Tokenizer* tokenizer, const LoadOptions& options);

}  // namespace headrace
