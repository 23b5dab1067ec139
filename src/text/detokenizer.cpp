#include "core/utf8.h"
#include "headrace/tokenizer.h"
#include "text/decoder.h"

namespace headrace {

struct Detokenizer::State {
  std::shared_ptr<const Tokenizer> tokenizer;
  DecodeOptions options;
  DecodeStream stream{tokenizer->decoder()};
  std::string held;  // the beginning of a character

  std::string take_complete();
};

Detokenizer::Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, DecodeOptions options)
    : state_(new State{.tokenizer = std::move(tokenizer), .options = options}) {}
Detokenizer::~Detokenizer() = default;
Detokenizer::Detokenizer(Detokenizer&&) noexcept = default;
Detokenizer& Detokenizer::operator=(Detokenizer&&) noexcept = default;

std::string Detokenizer::push(std::span<const int32_t> ids) {
  const Tokenizer& tokenizer = *state_->tokenizer;
  for (const int32_t id : ids)
    if (tokenizer.has_token(id) && !(state_->options.skip_special && tokenizer.is_special(id)))
      state_->stream.token(tokenizer.token_text(id));
  return state_->take_complete();
}

std::string Detokenizer::flush() {
  state_->stream.finish();
  std::string text = state_->take_complete();
  text += replace_invalid_utf8(state_->held);
  state_->held.clear();
  return text;
}

std::string Detokenizer::State::take_complete() {
  held += stream.take();
  std::string text;
  text.reserve(held.size());
  size_t at = 0;
  while (at < held.size()) {
    const Utf8 c = decode_utf8(held, at);
    if (c.truncated) break;
    if (c.valid) {
      text.append(held, at, static_cast<size_t>(c.length));
    } else {
      append_utf8(text, c.codepoint);
    }
    at += static_cast<size_t>(c.length);
  }
  held.erase(0, at);
  return text;
}

}  // namespace headrace
