// Names by pattern: * stands for any characters, ? for one, everything else for itself.
#pragma once

#include <string_view>

namespace headrace {

bool is_glob(std::string_view pattern);
// The whole of `text`. Takes |pattern| x |text| steps at most.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace headrace
