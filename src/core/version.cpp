#include "headrace/types.h"

namespace headrace {

std::string_view version() { return HEADRACE_VERSION; }  // defined by CMake, from the file VERSION

}  // namespace headrace
