// tokenizer.json of Hugging Face's tokenizers library.
#pragma once

#include <string_view>

#include "text/tokenizer_parts.h"

namespace headrace {

// Everything but what tokenizer_config.json adds (which ids are BOS and so on). Throws Error.
TokenizerParts parse_tokenizer_json(std::string_view text);

}  // namespace headrace
