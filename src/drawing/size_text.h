// Bytes for people.
#pragma once

#include <string>

#include "headrace/types.h"

namespace headrace {

// "663.6 kB", in decimal units.
std::string bytes_text(double bytes);
// Of a value with symbolic sizes: "2.3 kB x tokens"; empty when it is no product of a number and symbols.
std::string bytes_text(const TensorType& type);

}  // namespace headrace
