#include "core/error.h"

#include "core/utf8.h"

namespace headrace {

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (out.size() >= limit) return out + "...";
    const Utf8 c = decode_utf8(text, i);
    if (c.valid && c.codepoint >= 0x20 && (c.codepoint < 0x7f || c.codepoint > 0x9f)) {
      out.append(text.substr(i, c.length));
    } else {
      for (int k = 0; k < c.length; ++k) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i + k]));
    }
    i += c.length;
  }
  return out;
}

std::string at_place(const std::source_location& where) {
  if (where.line() == 0) return {};
  const std::string_view file = where.file_name();
  return fmt::format(" (at {}:{})", file.substr(file.rfind('/') + 1), where.line());
}

}  // namespace headrace
