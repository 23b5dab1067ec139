// What each instruction set compiles of an op: the loops, and the file that ops/each_isa.inl.h was given.
#include "ops/simd_loops.inl.h"
#include HEADRACE_FOR_EACH_ISA
