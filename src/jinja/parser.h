#pragma once

#include <string_view>

#include "jinja/ast.h"

namespace headrace::jinja {

// Throws TemplateError.
ast::Tree parse_template(std::string_view source, std::string_view name);

}  // namespace headrace::jinja
