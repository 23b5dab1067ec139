// 0, 1, 2 ... as PyTorch's arange(end): positions, also as many as a symbol says.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Arange {
  Shape shape;  // (end)
  DType dtype = DType::kI64;
  void fields(auto&& f) { f("shape", shape), f("dtype", dtype); }
};

// arange() -> shape, of integers or floats.
void register_arange(OpRegistry& ops);

}  // namespace headrace
