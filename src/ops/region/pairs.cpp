#include "ops/region/pairs.h"

#include "ops/for_isa.h"

#define HEADRACE_FOR_EACH_ISA "ops/region/pairs.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {

PairRun pair_run(BinaryFunction inner, BinaryFunction outer, bool inner_is_second, CpuIsa isa) {
  return for_isa(isa, baseline::pair_function, avx2::pair_function, avx512vnni::pair_function)(inner, outer, inner_is_second);
}

}  // namespace headrace
