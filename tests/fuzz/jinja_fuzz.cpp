// Any bytes are a template that renders, or an Error; what renders is valid UTF-8.
#include "core/json.h"
#include "core/utf8.h"
#include "jinja/template.h"

namespace {

using namespace headrace;

const OrderedJson& context() {
  static const OrderedJson json = parse_ordered_json(R"({
    "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": [{"type": "text", "text": "H\u00e9llo \ud83d\ude00"}]},
                 {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": [1.5, true]}}}]}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
    "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": true, "s": "Hello w\u00f6rld", "n": null, "t": true, "f": false,
    "i": 7, "z": 0, "x": 2.5, "e": "", "l": [3, 1, 2], "ls": ["b", "A", "c"], "d": {"b": 1, "a": 2}, "big": 9223372036854775807
  })",
                                                     "context");
  return json;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto parsed = jinja::Template::parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    jinja::RenderOptions options;
    options.now = std::tm{.tm_mday = 10, .tm_mon = 6, .tm_year = 125, .tm_wday = 4, .tm_yday = 190};
    options.max_steps = 100'000;
    if (!is_valid_utf8(parsed.render(context(), options))) __builtin_trap();
  } catch (const Error&) {
  }
  return 0;
}
