// Tokenizer and chat template from the files that an engine or a folder carries.
#pragma once

#include "jinja/chat_template.h"
#include "text/tokenizer.h"
#include "weights/text_files.h"

namespace headrace {

// Throws Error.
std::shared_ptr<const Tokenizer> make_tokenizer(const TextFiles& text);

// Null when there is none. chat_template.jinja is stronger than tokenizer_config.json. Throws Error for one that cannot be parsed.
std::shared_ptr<const jinja::ChatTemplate> make_chat_template(const TextFiles& text, const Tokenizer& tokenizer);

}  // namespace headrace
