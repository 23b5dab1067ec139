// Macros, and the bodies of call blocks.
#pragma once

#include "jinja/evaluator.h"

namespace headrace::jinja {

// A function that runs the macro's body over `scope`, the one it stands in.
Value make_macro(Evaluator& evaluator, std::shared_ptr<const ast::Macro> macro, Ref<Scope> scope);

}  // namespace headrace::jinja
