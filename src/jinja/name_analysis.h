#pragma once

#include <string_view>

#include "jinja/ast.h"

namespace headrace::jinja {

// What jinja2 settles when it compiles a template.
//  * A name that a body assigns to before it reads it is a variable of that body from the body's start, even where the assignment comes
//    later: inner loops and macros then see it as undefined, not the context's value. Fills in ScopedBody::unset.
//  * A filter or test that does not exist is an error, unless it stands in an if or a conditional expression.
// Throws TemplateError; `name` is the template's.
void analyze_names(ast::Tree& tree, std::string_view name);

}  // namespace headrace::jinja
