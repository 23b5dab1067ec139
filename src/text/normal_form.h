// Unicode normalization forms (UAX #15) in linear time: runs of combining marks are ordered by counting, not by swapping.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

// `text` is valid UTF-8.
std::string normalize(std::string_view text, NormalForm form);

}  // namespace headrace
