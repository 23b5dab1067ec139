// The files that a tokenizer and a chat template are made from, as bytes by name: see headrace/weights.h.
#pragma once

#include "headrace/weights.h"

namespace headrace {

class GgufFile;

// Under which a GGUF's metadata stand, from its beginning to its tensors; the folder of templates by name.
inline constexpr std::string_view kGgufVocabulary = "vocabulary.gguf";
inline constexpr std::string_view kTemplateFolder = "additional_chat_templates/";
TextFiles gguf_text_files(const GgufFile& file);

}  // namespace headrace
