// What string methods and text filters share.
#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);
// `count` < 0: all.
std::string replace_text(Runtime& runtime, std::string_view text, std::string_view old, std::string_view with, int64_t count);
// Python's str.center; `fill` is one character.
std::string center_text(const Value& string, int64_t width, std::string_view fill);

}  // namespace headrace::jinja
