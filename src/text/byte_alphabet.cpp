#include "text/byte_alphabet.h"

#include <array>

#include "core/utf8.h"

namespace headrace {
namespace {

constexpr int kNumCharacters = 0x144;

struct Tables {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, kNumCharacters> byte{};
};

constexpr Tables make_tables() {
  Tables t;
  for (auto& b : t.byte) b = -1;
  uint16_t next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool visible = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    t.character[static_cast<size_t>(b)] = visible ? static_cast<uint16_t>(b) : next++;
    t.byte[t.character[static_cast<size_t>(b)]] = static_cast<int16_t>(b);
  }
  return t;
}

constexpr Tables kTables = make_tables();

std::optional<uint8_t> character_to_byte(uint32_t c) {
  if (c >= kNumCharacters || kTables.byte[c] < 0) return std::nullopt;
  return static_cast<uint8_t>(kTables.byte[c]);
}

}  // namespace

void append_byte_alphabet(std::string& out, std::string_view bytes) {
  for (const char b : bytes) {
    const uint16_t c = kTables.character[static_cast<unsigned char>(b)];
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else {
      out += static_cast<char>(0xc0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3f));
    }
  }
}

std::optional<std::string> spelled_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Utf8 c = decode_utf8(text, i);
    const auto byte = c.valid ? character_to_byte(c.codepoint) : std::nullopt;
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    i += static_cast<size_t>(c.length);
  }
  return out;
}

}  // namespace headrace
