// Every op that Headrace knows (ops.cpp lists them) and every kernel (kernels.cpp lists them).
#pragma once

#include <memory>

#include "headrace/graph.h"
#include "ops/kernel.h"

namespace headrace {

void register_ops(OpRegistry& registry);
void register_kernels(KernelRegistry& registry);

// The built-in ops, made on first use and never changed.
std::shared_ptr<const OpRegistry> builtin_ops();
std::shared_ptr<const KernelRegistry> builtin_kernels();

}  // namespace headrace
