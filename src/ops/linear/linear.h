// Linear layer: y = x W^T + b. Weights of any dtype, block types too: the reference widens them to fp32.
#pragma once

#include "headrace/functional.h"
#include "ops/kernel.h"

namespace headrace {

inline constexpr std::string_view kParallelNames[] = {"none", "column", "row"};
inline std::span<const std::string_view> enum_names(Parallel) { return kParallelNames; }

struct Linear {
  Parallel parallel = Parallel::kNone;  // for passes that spread a model over ranks; kernels do not look at it
  void fields(auto&& f) { f("parallel", parallel); }
};

// linear(x (..., in), weight (out, in)[, bias (out)]) -> x's dtype (..., out). Sums in fp32.
void register_linear(OpRegistry& ops);

}  // namespace headrace
