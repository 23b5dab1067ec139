#include "cli/generate_options.h"

#include <algorithm>

namespace headrace::cli {
namespace {

// "17=-2.5", "17=-inf,18=-inf"
void parse_bias(const std::string& text, std::vector<SamplingParams::Bias>& biases) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const size_t equals = item.find('=');
    if (equals == std::string::npos) throw UsageError("'" + item + "' is not ID=BIAS");
    SamplingParams::Bias& bias = biases.emplace_back();
    parse_value(item.substr(0, equals), bias.token);
    parse_value(item.substr(equals + 1), bias.bias);
    begin = end + 1;
  }
}

// "name" or "name={...}"
void parse_processor(const std::string& text, std::vector<SamplingParams::Processor>& processors) {
  const size_t equals = std::min(text.find('='), text.size());
  if (equals == 0) throw UsageError("'" + text + "' is not NAME or NAME=JSON");
  processors.push_back({text.substr(0, equals), equals < text.size() ? text.substr(equals + 1) : ""});
}

}  // namespace

void declare_sampling(Options& options, SamplingParams& sampling, const std::string& otherwise) {
  options.heading("Sampling (" + otherwise + ")");
  options.value("--temperature", "T", sampling.temperature, "divides the logits; 0 is greedy");
  options.value("--top-k", "K", sampling.top_k, "only the K likeliest tokens; 0: all");
  options.value("--top-p", "P", sampling.top_p, "only the likeliest tokens that together reach P");
  options.value("--min-p", "P", sampling.min_p, "only tokens at least P times as likely as the likeliest");
  options.value("--repetition-penalty", "R", sampling.repetition_penalty, "above 1: less of what prompt and answer hold already");
  options.value("--presence-penalty", "X", sampling.presence_penalty, "subtracted from the logit of each token that the answer holds");
  options.value("--frequency-penalty", "X", sampling.frequency_penalty, "the same, once per occurrence");
  options.value(
      "--logit-bias", "ID=X", [&sampling](const std::string& text) { parse_bias(text, sampling.logit_bias); },
      "added to a token's logit; -inf forbids it; ID=X,ID=X or repeated");
  options.value(
      "--logits-processor", "NAME[=JSON]", [&sampling](const std::string& text) { parse_processor(text, sampling.processors); },
      "code of a plugin's before sampling, with its options; may be repeated");
  options.value("--seed", "N", sampling.seed, "makes sampling repeatable");
}

void declare_generate(Options& options, GenerateOptions& generate, const std::string& otherwise) {
  declare_sampling(options, generate.sampling, otherwise);
  options.heading("Where it ends");
  options.value("-n,--max-tokens", "N", generate.max_tokens, "at most N new tokens");
  options.value("--min-tokens", "N", generate.min_tokens, "no end before N new tokens");
  options.value("--stop", "TEXT", generate.stop, "ends before this text; may be repeated");
  options.value("--stop-ids", "IDS", generate.stop_token_ids, "ends at any of these tokens");
  options.flag("--include-stop", generate.include_stop, "the text that ended it is kept");
  options.flag("--ignore-eos", generate.ignore_eos, "the model's end tokens do not end it");
  options.heading("What comes out");
  options.value("--logprobs", "K", generate.output.logprobs, "log-probabilities of new tokens, with the K likeliest (with --json)");
  options.flag("--keep-special", generate.keep_special, "control tokens are written out");
}

}  // namespace headrace::cli
