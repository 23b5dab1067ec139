// Any bytes are a tokenizer.json that encodes and decodes, or an Error; the detokenizer agrees with decode and gives valid UTF-8.
#include "core/error.h"
#include "core/utf8.h"
#include "headrace/tokenizer.h"
#include "text/tokenizer_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headrace;
  try {
    const auto tokenizer = std::make_shared<const Tokenizer>(parse_tokenizer_json({reinterpret_cast<const char*>(data), size}));
    for (const char* text :
         {"", " ", "Hello, w\u00f6rld! it's 12345", "  a\n\nb\t<s></s><unk>\u2581x", "\u4f60\u597d \U0001f642\u200d e\u0301\u0323"}) {
      for (const bool special : {false, true}) {
        const auto ids = tokenizer->encode(text, {.add_special = special, .parse_special = special});
        Detokenizer stream(tokenizer);
        std::string joined;
        for (const int32_t id : ids) joined += stream.push(id);
        joined += stream.flush();
        if (joined != replace_invalid_utf8(tokenizer->decode(ids)) || !is_valid_utf8(joined)) __builtin_trap();
        for (const int32_t id : ids) tokenizer->token_bytes(id);
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
