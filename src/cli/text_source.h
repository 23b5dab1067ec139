// The tokenizer files of whatever a person names: a model, an engine, a folder with just a vocabulary, or one vocabulary file.
#pragma once

#include <string>

#include "text/tokenizer.h"
#include "weights/text_files.h"

namespace headrace::cli {

// Throws Error(kNotFound) when there is no vocabulary.
TextFiles find_text_files(const std::string& path);
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path);

}  // namespace headrace::cli
