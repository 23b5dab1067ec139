#include "text/tokenizer_files.h"

#include "core/error.h"

namespace headrace {

TokenizerParts read_sentencepiece(std::string_view, std::string_view where, const TokenizerConfig&) {
  fail(ErrorCode::kUnsupported, "{}: not yet", where);
}
bool looks_like_ranks(std::string_view) { return false; }
bool knows_ranks(std::string_view) { return false; }
TokenizerParts read_ranks(std::string_view, std::string_view name) { fail(ErrorCode::kUnsupported, "{}: not yet", name); }
TokenizerParts read_vocab_and_merges(std::string_view, std::string_view, const TokenizerConfig&) { fail(ErrorCode::kUnsupported, "not yet"); }
TokenizerParts read_vocab_txt(std::string_view, const TokenizerConfig&) { fail(ErrorCode::kUnsupported, "not yet"); }

}  // namespace headrace
