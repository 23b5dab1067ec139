// Every op that Headrace knows (ops.cpp lists them; builtin_ops() in headrace/functional.h) and every kernel (kernels.cpp lists them).
#pragma once

#include <memory>

#include "headrace/functional.h"
#include "ops/kernel.h"

namespace headrace {

void register_kernels(KernelRegistry& registry);

// The built-in kernels, made on first use and never changed.
std::shared_ptr<const KernelRegistry> builtin_kernels();

}  // namespace headrace
