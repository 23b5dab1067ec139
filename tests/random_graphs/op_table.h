// The ops that random graphs are made of: a line each.
#pragma once

#include <span>
#include <string_view>

#include "random_graphs/maker.h"

namespace headrace::fuzzing {

enum class Rounding {
  kNone,         // results are elements of the operands, or exact functions of them
  kUsual,        // a few units in the last place
  kApproximate,  // an absolute error near the function's zeros besides
};

struct OpLine {
  std::string_view op;
  void (*add)(Maker& maker, std::string_view op);  // one node of it, operands and attributes at random
  Rounding rounding = Rounding::kUsual;
};
std::span<const OpLine> op_table();

// Several nodes that mean something together, in one of their spellings: what the compiler is to recognize.
struct Recipe {
  std::string_view name;
  void (*add)(Maker& maker);
};
std::span<const Recipe> recipes();

bool passes_values_on(const Node& node);  // Rounding::kNone; a cast only to a type that holds all of the operand's
bool is_approximate(const Node& node);

}  // namespace headrace::fuzzing
