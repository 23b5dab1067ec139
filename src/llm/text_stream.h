// From one request's responses to text: detokenizes, looks for stop strings, spells out log-probabilities.
// Lives on whichever thread takes the responses, never on the loop's.
#pragma once

#include "headrace/llm.h"
#include "text/stop_matcher.h"

namespace headrace {

class TextStream {
 public:
  // Without a tokenizer (null) all texts are empty; options.stop must be, too.
  TextStream(std::shared_ptr<const Tokenizer> tokenizer, const GenerateOptions& options, std::vector<int32_t> prompt_ids);

  // What a response adds. With its last response, or at a stop string, the completion is finished(), and nothing may follow.
  Completion push(const Response& response);

 private:
  void push_token(const Response& response, size_t i, Completion& piece);
  std::string without_context(std::string text);
  TextToken spell(int32_t id, float logprob) const;
  TextLogprobs spell(int32_t id, const TokenLogprobs& logprobs) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<int32_t> prompt_ids_;
  size_t num_prompt_spelled_ = 0;
  bool include_stop_;
  std::optional<Detokenizer> detokenizer_;
  std::string context_;  // text of the prompt that the detokenizer has yet to give
  StopMatcher matcher_;
};

}  // namespace headrace
