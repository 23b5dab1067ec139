// Several small nodes that run as one kernel: a body of pointwise ops and of reductions along the last axis. A value of the body lives in
// registers or in cache, and never in memory. The compiler forms regions of what no kernel covers; a device interprets them, or
// generates code for them.
#pragma once

#include <memory>

#include "ops/kernel.h"

namespace headrace {

// The graph inside: inputs and constants are what it reads, outputs its results. In text, what stands in a graph's braces:
//   region(%x, %y) {body={ input %x : f32[tokens, 8]  input %y : f32[8]  %0 = add(%x, %y)  return %0 }}
class RegionBody {
 public:
  RegionBody();
  // Throws Error(kInvalidArgument) for nodes that a region cannot have: see is_region_op.
  explicit RegionBody(Graph graph);
  const Graph& graph() const { return *graph_; }

  std::string to_text() const;
  static RegionBody from_text(std::string_view text);

 private:
  std::shared_ptr<const Graph> graph_;
};

struct Region {
  RegionBody body;
  void fields(auto&& f) { f("body", body); }
};

// Whether a region may hold the node. Its op is a built-in one and pointwise, or a sum, mean, max or min over the last axis that keeps the
// axis; its types are floats, bool, i8 or u8, which fp32 holds exactly. Integers come from casts of floats alone, for their arithmetic
// wraps around.
bool is_region_op(const Node& node);

// The shape over which the body runs: that of its largest values. Values whose last axis is 1 there are one per row; operands broadcast.
Shape domain_of(const Graph& body);
// Whether a value is one per row of the domain (its last axis is 1, or it has none) and not one per element.
bool is_per_row(Value value, const Shape& domain);

// region(operands...) {body}: operand i is the body's input i, in order of declaration; results are the body's outputs.
void register_region(OpRegistry& ops);
void register_region_cpu(KernelRegistry& kernels);

}  // namespace headrace
