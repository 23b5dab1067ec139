// GPT-2's alphabet: each byte as one visible character, so that any bytes are text. Printable Latin-1 stands for itself,
// the other 68 bytes are U+0100 onwards in order.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

void append_byte_alphabet(std::string& out, std::string_view bytes);
// The bytes that `text` spells, or nothing when a character is not of the alphabet.
std::optional<std::string> spelled_bytes(std::string_view text);

}  // namespace headrace
