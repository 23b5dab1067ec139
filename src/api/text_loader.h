// Tokenizer and chat template from the files that an engine or a folder carries.
#pragma once

#include "headrace/chat_template.h"
#include "headrace/weights.h"

namespace headrace {

// The tokenizer files of whatever a person names: a model, an engine, a folder with just a vocabulary, or one vocabulary file. Empty when
// there are none; throws Error for a path that does not exist and for a file that is no vocabulary.
TextFiles find_text_files(const std::string& path);

// Throws Error.
std::shared_ptr<const Tokenizer> make_tokenizer(const TextFiles& text);

// Null when there is none. chat_template.jinja is stronger than tokenizer_config.json. Throws Error for one that cannot be parsed.
std::shared_ptr<const ChatTemplate> make_chat_template(const TextFiles& text, const Tokenizer& tokenizer);

}  // namespace headrace
