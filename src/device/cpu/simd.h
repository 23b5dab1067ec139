// Vectors of floats, one vocabulary for every instruction set. A kernel is written once in NAME.inl.h over `F32` and compiled
// once per instruction set, each in a file and a namespace of its own:
//
//   #include "device/cpu/simd.h"                     // and every other header: none may be included below
//   #pragma GCC push_options
//   #pragma GCC target("avx2,fma,f16c,bmi2")         // simd_baseline.inl.h: no pragma
//   namespace headrace::avx2 {                       // baseline, avx2, avx512vnni, avx512bf16
//   #include "device/cpu/simd_avx2.inl.h"            // for both AVX-512 levels: simd_avx512.inl.h
//   #include "device/cpu/simd_math.inl.h"            // exp, sigmoid, tanh, erf on F32
//   #include "ops/rms_norm/rms_norm.inl.h"
//   }
//   #pragma GCC pop_options
//
// So no function shared with other files (std templates, inline functions of headers) is ever compiled with wide instructions.
// AVX-512 targets: "avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni" and the same with ",avx512bf16".
//
// What simd_ISA.inl.h defines (n counts elements, 0 <= n <= kLanes; lanes past n read as 0 and are not written):
//   struct F32 { static constexpr int kLanes; };     + - * / and unary -, lane by lane
//   load(p) load(p, n) store(p, x) store(p, x, n)    p: float*, Half* or BFloat16* (stored rounded to nearest even); any alignment
//   stream(p, x)                                     past the caches; p: float*, aligned to a whole vector. A fence publishes it
//   broadcast(f) zero()
//   fma(a, b, c)                                     a * b + c, one rounding (baseline: two)
//   max(a, b) min(a, b) abs(a) sqrt(a) round(a)      round: to nearest even. max, min: b when either is NaN
//   less(a, b) -> Mask, select(mask, a, b)           lane by lane mask ? a : b
//   reduce_add(x) reduce_max(x) -> float             pairwise, in a fixed order
//   exp2_int(n)                                      2^n for integral n in [-126, 127]
//   transpose(x)                                     F32 x[kLanes], a square: rows become columns
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/float16.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// gcc 12 sees uninitialized values in its own AVX-512 headers (bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
