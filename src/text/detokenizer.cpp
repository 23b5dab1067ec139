#include "text/detokenizer.h"

#include "core/utf8.h"

namespace headrace {

Detokenizer::Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, DecodeOptions options)
    : tokenizer_(std::move(tokenizer)), options_(options), stream_(tokenizer_->decoder()) {}

std::string Detokenizer::push(std::span<const int32_t> ids) {
  for (const int32_t id : ids)
    if (tokenizer_->has_token(id) && !(options_.skip_special && tokenizer_->is_special(id))) stream_.token(tokenizer_->token_text(id));
  return take_complete();
}

std::string Detokenizer::flush() {
  stream_.finish();
  std::string text = take_complete();
  text += replace_invalid_utf8(held_);
  held_.clear();
  return text;
}

std::string Detokenizer::take_complete() {
  held_ += stream_.take();
  std::string text;
  text.reserve(held_.size());
  size_t at = 0;
  while (at < held_.size()) {
    const Utf8 c = decode_utf8(held_, at);
    if (c.truncated) break;
    if (c.valid) {
      text.append(held_, at, static_cast<size_t>(c.length));
    } else {
      append_utf8(text, c.codepoint);
    }
    at += static_cast<size_t>(c.length);
  }
  held_.erase(0, at);
  return text;
}

}  // namespace headrace
