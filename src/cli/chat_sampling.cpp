#include "cli/chat_sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/nearest.h"

namespace headrace::cli {
namespace {

constexpr float kNotGiven = std::numeric_limits<float>::quiet_NaN();
constexpr int kNoTopK = -1;
constexpr char kWhere[] = "generation_config.json";

// A number of the model's. What is absent is what Hugging Face takes for it.
float number(const Json& generation, const char* key, float absent) {
  return generation.is_object() ? find_or(generation, key, absent, kWhere) : absent;
}

int whole_number(const Json& generation, const char* key, int absent) {
  const float value = number(generation, key, float(absent));
  if (!(value >= 0 && value <= 1e9f)) invalid("{}: '{}' is {}, a number from 0 is wanted", kWhere, key, value);
  return int(value);
}

void give(float& value, float otherwise) {
  if (std::isnan(value)) value = otherwise;
}

// What /set changes. `set` throws UsageError for a text that `show` could not have written, and then changes nothing.
struct Setting {
  const char* name;
  std::function<void(GenerateOptions&, const std::string&)> set;
  std::function<std::string(const GenerateOptions&)> show;
};

constexpr double kUnbounded = std::numeric_limits<float>::max();  // by anything but finiteness

template <typename T>
void read_number(const std::string& text, T& to, double least, double most = kUnbounded) {
  T value{};
  parse_value(text, value);
  if (!(double(value) >= least && double(value) <= most)) {
    const std::string range = most == kUnbounded ? fmt::format("at least {}", least) : fmt::format("{} to {}", least, most);
    throw UsageError(fmt::format("'{}' is not in range: {}", printable(text), range));
  }
  to = value;
}

template <typename T>
Setting number_setting(const char* name, T SamplingParams::*member, double least, double most) {
  return {name, [=](GenerateOptions& o, const std::string& text) { read_number(text, o.sampling.*member, least, most); },
          [=](const GenerateOptions& o) { return fmt::format("{}", o.sampling.*member); }};
}

// A number, or a word for its absence.
template <typename T>
void read_optional(const std::string& text, const char* absent, std::optional<T>& to, double least) {
  if (text == absent) return to.reset();
  T value{};
  read_number(text, value, least);
  to = value;
}

template <typename T>
std::string show_optional(const std::optional<T>& value, const char* absent) {
  return value ? std::to_string(*value) : absent;
}

std::vector<Setting> settings() {
  using P = SamplingParams;
  return {
      number_setting("temperature", &P::temperature, 0, kUnbounded),
      number_setting("top-p", &P::top_p, 0, 1),
      number_setting("min-p", &P::min_p, 0, 1),
      number_setting("top-k", &P::top_k, 0, kUnbounded),
      number_setting("repetition-penalty", &P::repetition_penalty, 0.01, 100),
      number_setting("presence-penalty", &P::presence_penalty, -100, 100),
      number_setting("frequency-penalty", &P::frequency_penalty, -100, 100),
      {"seed", [](GenerateOptions& o, const std::string& text) { read_optional(text, "random", o.sampling.seed, 0); },
       [](const GenerateOptions& o) { return show_optional(o.sampling.seed, "random"); }},
      {"max-tokens", [](GenerateOptions& o, const std::string& text) { read_optional(text, "none", o.max_tokens, 1); },
       [](const GenerateOptions& o) { return show_optional(o.max_tokens, "none"); }},
  };
}

std::string show(const Setting& s, const GenerateOptions& options) { return fmt::format("  {:<20}{}\n", s.name, s.show(options)); }

}  // namespace

SamplingParams sampling_not_given() {
  return {.temperature = kNotGiven, .top_k = kNoTopK, .top_p = kNotGiven, .min_p = kNotGiven, .repetition_penalty = kNotGiven};
}

void complete_sampling(SamplingParams& p, const Json& generation) {
  const auto says = [&](const char* key) { return generation.is_object() && generation.contains(key); };
  const bool decided = says("do_sample"), samples = !decided || find_or(generation, "do_sample", false, kWhere);
  // A model that decides to sample and leaves a number out means Hugging Face's; one that decides nothing leaves it to us.
  const SamplingParams absent = decided ? SamplingParams{.temperature = 1} : kChatSampling;
  give(p.temperature, samples ? number(generation, "temperature", absent.temperature) : 0);
  give(p.top_p, samples ? number(generation, "top_p", absent.top_p) : 1);
  give(p.min_p, samples ? number(generation, "min_p", absent.min_p) : 0);
  if (p.top_k == kNoTopK) p.top_k = samples ? whole_number(generation, "top_k", absent.top_k) : 0;
  give(p.repetition_penalty, number(generation, "repetition_penalty", 1));
}

std::string describe(const SamplingParams& p) {
  if (p.temperature == 0) return "greedy";
  std::string text = fmt::format("temperature {}", p.temperature);
  if (p.top_k > 0) text += fmt::format(", top-k {}", p.top_k);
  if (p.top_p < 1) text += fmt::format(", top-p {}", p.top_p);
  if (p.min_p > 0) text += fmt::format(", min-p {}", p.min_p);
  if (p.repetition_penalty != 1) text += fmt::format(", repetition-penalty {}", p.repetition_penalty);
  return text;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& s : settings()) names.push_back(s.name);
  return names;
}

std::string change_setting(GenerateOptions& options, const std::string& words) {
  const std::vector<Setting> known = settings();
  if (words.empty()) {
    std::string text;
    for (const Setting& s : known) text += show(s, options);
    return text;
  }
  const size_t end = std::min(words.find_first_of(" ="), words.size());
  const std::string name = words.substr(0, end), value = words.substr(std::min(words.find_first_not_of(" =", end), words.size()));
  const auto s = std::find_if(known.begin(), known.end(), [&](const Setting& k) { return k.name == name; });
  if (s == known.end()) {
    const std::string near = nearest(name, setting_names());
    invalid("/set: there is no setting '{}'{}; /set alone lists them", printable(name),
            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near));
  }
  try {
    s->set(options, value);
  } catch (const UsageError& e) {
    invalid("/set {}: {}", name, e.what());
  }
  return show(*s, options);
}

}  // namespace headrace::cli
