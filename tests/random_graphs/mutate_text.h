// Changes to a graph's text that leave most of it a graph: what a parser, shape rules and passes must survive.
#pragma once

#include <string>

#include "random_graphs/random.h"

namespace headrace::fuzzing {

// One change: a type, a size (huge, negative, a symbol), an attribute's value or name, an operand or a result (of another line, also of a
// later one: a cycle), an op's name, a line that moves, goes or comes twice, or a character.
std::string mutated(const std::string& text, Random& random);

}  // namespace headrace::fuzzing
