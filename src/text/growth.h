// How far a tokenizer may make a text longer.
#pragma once

#include "core/error.h"

namespace headrace {

inline constexpr size_t kMostGrown = size_t{256} << 20;

// Throws when `bytes`, made of `bytes_before`, are too many: what the parts of a hostile file, one behind the other, would make of a
// text fills any memory.
inline void check_growth(std::string_view part, size_t bytes, size_t bytes_before) {
  if (bytes > kMostGrown && bytes > bytes_before)
    invalid("tokenizer: a {} makes more than {} MiB of the text; is the tokenizer's file damaged? Else give less text at a time", part,
            kMostGrown >> 20);
}

}  // namespace headrace
