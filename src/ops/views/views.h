// Ops that show a tensor's elements in another arrangement, as in PyTorch. Where the strides permit, the result is the operand's
// own memory (OpDef::view); otherwise a kernel copies.
//   view(x) {shape}                     as many elements, in the same order
//   permute(x) {axes}                   axis i of the result is axis axes[i] of x
//   slice(x) {axis, begin, end, step}   every step-th of begin <= i < end along one axis; negative counts from the back
//   expand(x) {shape}                   axes of size 1, and new leading ones, repeated
// Block types keep whole blocks: their last axis stays the last, and is cut only between blocks.
#pragma once

#include <limits>

#include "ops/kernel.h"

namespace headrace {

struct View {
  Shape shape;
  void fields(auto&& f) { f("shape", shape); }
};

struct Permute {
  std::vector<int64_t> axes;  // each once; negative counts from the back
  void fields(auto&& f) { f("axes", axes); }
};

inline constexpr int64_t kToEnd = std::numeric_limits<int64_t>::max();

// Bounds past an end stop there. An axis whose size is a symbol is taken to be long enough for the bounds; should it not be,
// the result is zeros.
struct Slice {
  int64_t axis = 0, begin = 0, end = kToEnd, step = 1;  // step >= 1
  void fields(auto&& f) { f("axis", axis), f("begin", begin), f("end", end), f("step", step); }
};

struct Expand {
  Shape shape;
  void fields(auto&& f) { f("shape", shape); }
};

void register_views(OpRegistry& ops);
void register_views_cpu(KernelRegistry& kernels);

// What views and their copies share: the operand's elements arranged as the output (perhaps in x's own shape, when only that has
// strides), or nothing when x lacks some of them.
std::optional<Tensor> elements_of_view(const OpCall& call, const Tensor& x, const Sizes& output);

}  // namespace headrace
