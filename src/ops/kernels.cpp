// Table of contents: every kernel. Within an op the preferred ones come first; an op's reference is always there as the last.
#include "ops/ops.h"

namespace headrace {

void register_kernels(KernelRegistry&) {}

std::shared_ptr<const KernelRegistry> builtin_kernels() {
  static const std::shared_ptr<const KernelRegistry> kernels = [] {
    auto made = std::make_shared<KernelRegistry>();
    register_kernels(*made);
    return made;
  }();
  return kernels;
}

}  // namespace headrace
