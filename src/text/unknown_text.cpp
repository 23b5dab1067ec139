#include "text/unknown_text.h"

#include <algorithm>

namespace headrace {
namespace {

std::vector<int32_t> find_byte_tokens(const Vocabulary& vocabulary) {
  std::vector<int32_t> tokens(256, -1);
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    const std::string text = {'<', '0', 'x', kHex[static_cast<size_t>(byte >> 4)], kHex[static_cast<size_t>(byte & 15)], '>'};
    if (const auto id = vocabulary.find(text)) tokens[static_cast<size_t>(byte)] = *id;
  }
  return tokens;
}

}  // namespace

std::optional<uint8_t> parse_byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  int value = 0;
  for (const char c : text.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + digit;
  }
  return static_cast<uint8_t>(value);
}

UnknownText::UnknownText(const Vocabulary& vocabulary, const UnknownOptions& options) : options_(options) {
  if (options_.byte_fallback) byte_tokens_ = find_byte_tokens(vocabulary);
}

bool UnknownText::spells(std::string_view text) const {
  return options_.byte_fallback && std::all_of(text.begin(), text.end(), [&](char c) { return byte_token(c) >= 0; });
}

bool UnknownText::drops_nothing() const {
  return options_.unknown || (options_.byte_fallback && std::find(byte_tokens_.begin(), byte_tokens_.end(), -1) == byte_tokens_.end());
}

void UnknownText::append(int32_t id, std::string_view text, bool& after_unknown, std::vector<int32_t>& ids) const {
  if (id >= 0) {
    ids.push_back(id);
    after_unknown = false;
  } else if (spells(text)) {
    for (const char c : text) ids.push_back(byte_token(c));
  } else {
    if (options_.unknown && !(after_unknown && options_.fuse)) ids.push_back(*options_.unknown);
    after_unknown = true;
  }
}

}  // namespace headrace
