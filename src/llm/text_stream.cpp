#include "llm/text_stream.h"

#include <algorithm>

#include "core/utf8.h"

namespace headrace {
namespace {

// So many tokens of the prompt decide whether the answer begins a text or goes on with one, in which case its first space stays.
constexpr size_t kContextTokens = 8;

std::span<const int32_t> context_of(const std::vector<int32_t>& prompt) {
  return std::span(prompt).last(std::min(prompt.size(), kContextTokens));
}

}  // namespace

TextStream::TextStream(std::shared_ptr<const Tokenizer> tokenizer, const GenerateOptions& options, std::vector<int32_t> prompt_ids)
    : tokenizer_(std::move(tokenizer)), prompt_ids_(std::move(prompt_ids)), include_stop_(options.include_stop), matcher_(options.stop) {
  if (!tokenizer_) return;
  const DecodeOptions decode{.skip_special = !options.keep_special};
  detokenizer_.emplace(tokenizer_, decode);
  Detokenizer context(tokenizer_, decode);
  context_ = context.push(context_of(prompt_ids_));
  context_ += context.flush();
  without_context(detokenizer_->push(context_of(prompt_ids_)));
}

// The detokenizer has seen the end of the prompt, and may still hold some of it: that is not part of the answer.
std::string TextStream::without_context(std::string text) {
  const size_t known = size_t(std::ranges::mismatch(text, context_).in1 - text.begin());
  if (known < text.size()) context_.clear();
  else context_.erase(0, known);
  return text.erase(0, known);
}

Completion TextStream::push(const Response& response) {
  Completion piece{.finish = response.finish,
                   .error = response.error,
                   .num_prompt_tokens = response.num_prompt_tokens,
                   .num_cached_tokens = response.num_cached_tokens,
                   .timings = response.timings};
  for (size_t i = 0; i < response.prompt_logprobs.size(); ++i)
    piece.prompt_logprobs.push_back(spell(prompt_ids_.at(num_prompt_spelled_++ + 1), response.prompt_logprobs[i]));
  for (size_t i = 0; i < response.token_ids.size() && !matcher_.matched(); ++i) push_token(response, i, piece);
  if (detokenizer_ && response.finished() && !matcher_.matched()) {
    piece.text += matcher_.push(without_context(detokenizer_->flush()));
    if (!matcher_.matched()) piece.text += matcher_.flush();
  }
  if (matcher_.matched()) {
    piece.finish = FinishReason::kStop;
    piece.error.clear();
    piece.stop_string = matcher_.stop(*matcher_.matched());
    if (include_stop_) piece.text += piece.stop_string;
  }
  return piece;
}

void TextStream::push_token(const Response& response, size_t i, Completion& piece) {
  const int32_t id = response.token_ids[i];
  piece.token_ids.push_back(id);
  if (!response.logprobs.empty()) piece.logprobs.push_back(spell(id, response.logprobs[i]));
  const bool is_end_token = response.finish == FinishReason::kStop && i + 1 == response.token_ids.size();
  if (detokenizer_ && (!is_end_token || include_stop_)) piece.text += matcher_.push(without_context(detokenizer_->push(id)));
}

TextToken TextStream::spell(int32_t id, float logprob) const {
  const std::string bytes = tokenizer_ ? tokenizer_->token_bytes(id) : std::string();
  return {.id = id, .text = replace_invalid_utf8(bytes), .bytes = bytes, .logprob = logprob};
}

TextLogprobs TextStream::spell(int32_t id, const TokenLogprobs& logprobs) const {
  TextLogprobs result{spell(id, logprobs.logprob), {}};
  for (const TokenLogprob& top : logprobs.top) result.top.push_back(spell(top.token, top.logprob));
  return result;
}

}  // namespace headrace
