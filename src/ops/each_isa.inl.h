// Compiles a file once per instruction set (device/cpu/each_isa.inl.h), with the loops of ops/simd_loops.inl.h before it. The includer
// says which, after every other #include; the file includes nothing and is written over F32 (device/cpu/simd.h):
//   #define HEADRACE_FOR_EACH_ISA "ops/gated/gated.inl.h"
//   #include "ops/each_isa.inl.h"
#define HEADRACE_EACH_ISA_BODY "ops/each_isa_body.inl.h"
#include "device/cpu/each_isa.inl.h"
#undef HEADRACE_FOR_EACH_ISA
