#include <array>

#include "text/tokenizer_json_parts.h"

namespace headrace {
namespace {

constexpr std::array<int8_t, 256> make_digits() {
  std::array<int8_t, 256> digits{};
  for (auto& d : digits) d = -1;
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < kDigits.size(); ++i) digits[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  return digits;
}

constexpr auto kDigit = make_digits();

}  // namespace

std::string base64_decode(std::string_view text, std::string_view where) {
  std::string out;
  out.reserve(text.size() / 4 * 3 + 3);
  while (text.ends_with('=')) text.remove_suffix(1);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = kDigit[static_cast<unsigned char>(c)];
    if (digit < 0) invalid("{}: not base64: '{}'", where, printable({&c, 1}));
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return out;
}

}  // namespace headrace
