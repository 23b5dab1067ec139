#include "cli/completion_report.h"

#include "core/json.h"

namespace headrace::cli {
namespace {

OrderedJson to_json(const std::vector<TextLogprobs>& tokens) {
  OrderedJson list = OrderedJson::array();
  for (const TextLogprobs& t : tokens) {
    OrderedJson bytes = OrderedJson::array(), top = OrderedJson::array();
    for (char c : t.bytes) bytes.push_back(uint8_t(c));
    for (const TextToken& other : t.top) top.push_back({{"id", other.id}, {"text", other.text}, {"logprob", other.logprob}});
    list.push_back({{"id", t.id}, {"text", t.text}, {"bytes", std::move(bytes)}, {"logprob", t.logprob}, {"top", std::move(top)}});
  }
  return list;
}

OrderedJson number(const std::optional<double>& value) { return value ? OrderedJson(*value) : OrderedJson(); }

}  // namespace

Speeds speeds_of(const Completion& completion, double load_s) {
  const Timings& t = completion.timings;
  Speeds speeds{.load_s = load_s, .ttft_s = t.first_token_s};
  const std::optional<double> prefilled_s = t.first_token_s ? t.first_token_s : t.finished_s;
  const int computed = completion.num_prompt_tokens - completion.num_cached_tokens;
  if (prefilled_s && *prefilled_s > t.scheduled_s.value_or(0))
    speeds.prefill_tokens_per_s = computed / (*prefilled_s - t.scheduled_s.value_or(0));
  if (t.seconds_per_token && *t.seconds_per_token > 0) speeds.decode_tokens_per_s = 1 / *t.seconds_per_token;
  return speeds;
}

std::string speed_line(const Completion& c, const Speeds& speeds) {
  std::string line = fmt::format("{} prompt tokens, {} new | load {:.3f} s", c.num_prompt_tokens, c.token_ids.size(), speeds.load_s);
  if (speeds.ttft_s) line += fmt::format(" | first token {:.3f} s", *speeds.ttft_s);
  if (speeds.prefill_tokens_per_s) line += fmt::format(" | prefill {:.1f} tok/s", *speeds.prefill_tokens_per_s);
  if (speeds.decode_tokens_per_s) line += fmt::format(" | decode {:.1f} tok/s", *speeds.decode_tokens_per_s);
  return line;
}

std::string completion_json(const Completion& c, const GenerateOptions& options, const Speeds& speeds) {
  OrderedJson json = {
      {"text", c.text}, {"token_ids", c.token_ids}, {"finish_reason", name(c.finish)}, {"prompt_tokens", c.num_prompt_tokens}};
  if (!c.stop_string.empty()) json["stop_string"] = c.stop_string;
  if (!c.error.empty()) json["error"] = c.error;
  if (options.output.logprobs) json["logprobs"] = to_json(c.logprobs);
  if (options.output.prompt_logprobs) json["prompt_logprobs"] = to_json(c.prompt_logprobs);
  json["timings"] = {{"load_s", speeds.load_s},
                     {"ttft_s", number(speeds.ttft_s)},
                     {"prefill_tokens_per_s", number(speeds.prefill_tokens_per_s)},
                     {"decode_tokens_per_s", number(speeds.decode_tokens_per_s)}};
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace headrace::cli
