// The known word that a mistyped one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace::cli {

// The word of `known` that the fewest typing mistakes (a letter more, less, another, or two exchanged) turn into `word`: at most one for
// each three letters begun. Empty when none is that near. Takes |word| x |known| steps; a word of more than 64 letters is near to none.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace headrace::cli
