#include "text/charsmap.h"

#include <cstring>

#include "core/error.h"
#include "core/utf8.h"

namespace headrace {
namespace {

// A unit of the double array (Yata's darts-clone): label in the low byte, bit 8 says that a value hangs below, the rest is an offset.
bool has_leaf(uint32_t unit) { return unit >> 8 & 1; }
uint32_t value(uint32_t unit) { return unit & 0x7fffffffu; }
uint32_t label(uint32_t unit) { return unit & 0x800000ffu; }
uint32_t offset(uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view bytes, std::string_view where) {
  uint32_t size = 0;
  if (bytes.size() < sizeof size) invalid("{}: the precompiled charsmap has {} bytes, wanted at least 4", where, bytes.size());
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size() || size % 4 != 0)
    invalid("{}: the precompiled charsmap's trie is said to have {} bytes, of {} that are there", where, size, bytes.size());
  units_.resize(size / 4);
  if (size > 0) std::memcpy(units_.data(), bytes.data(), size);
  replacements_.assign(bytes.substr(size));
  if (replacements_.empty() || replacements_.back() != '\0') replacements_ += '\0';
}

Charsmap::Prefix Charsmap::normalize_prefix(std::string_view text) const {
  Prefix found{{}, 0};
  size_t node = units_.empty() ? 0 : offset(units_[0]);
  for (size_t i = 0; i < text.size() && !units_.empty(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units_.size() || byte == 0 || label(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= offset(unit);
    if (node >= units_.size()) break;
    if (has_leaf(unit)) {
      const uint32_t begin = value(units_[node]);
      if (begin < replacements_.size()) found = {std::string_view(replacements_.data() + begin), i + 1};
    }
  }
  if (found.length > 0) return found;
  const Utf8 c = decode_utf8(text, 0);
  if (!c.valid) return {"\xef\xbf\xbd", 1};
  return {text.substr(0, static_cast<size_t>(c.length)), static_cast<size_t>(c.length)};
}

std::string Charsmap::normalize(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Prefix prefix = normalize_prefix(text);
    out += prefix.replacement;
    text.remove_prefix(prefix.length);
  }
  return out;
}

}  // namespace headrace
