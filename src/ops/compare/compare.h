// Comparisons of two tensors, element by element, with PyTorch's broadcasting and type promotion.
//   eq ne lt le gt ge (x, y) -> bool; NaN is equal to nothing, and neither less nor greater than anything
//   logical_and logical_or logical_xor (x, y) -> bool, of "not zero", which NaN is
#pragma once

#include "ops/binary/binary.h"

namespace headrace {

enum class Comparison { kEq, kNe, kLt, kLe, kGt, kGe, kLogicalAnd, kLogicalOr, kLogicalXor };
inline constexpr std::string_view kComparisonNames[] = {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"};

template <typename T>
bool compare(Comparison comparison, T x, T y) {
  switch (comparison) {
    case Comparison::kEq: return x == y;
    case Comparison::kNe: return x != y;
    case Comparison::kLt: return x < y;
    case Comparison::kLe: return x <= y;
    case Comparison::kGt: return x > y;
    case Comparison::kGe: return x >= y;
    case Comparison::kLogicalAnd: return x != T(0) && y != T(0);
    case Comparison::kLogicalOr: return x != T(0) || y != T(0);
    case Comparison::kLogicalXor: return (x != T(0)) != (y != T(0));
  }
  return false;
}

// A comparison of floats that gives 1 or 0: for regions, whose values are all fp32.
BinaryRun compare_run(const OpDef& op);

void register_compare(OpRegistry& ops);
void register_compare_cpu(KernelRegistry& kernels);

}  // namespace headrace
