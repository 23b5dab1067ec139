// What a program's results may be. How far rounding can move each of them is found by trying: the reference is evaluated several times with
// noise of a few units in the last place on whatever a node reads that was rounded, or that it will sum. A result within a few times the
// greatest deviation agrees; one that is far off is a bug and not an ill-conditioned sum.
#pragma once

#include <optional>

#include "random_graphs/evaluate.h"

namespace headrace::fuzzing {

// What activations are rounded to where they meet a weight: Arithmetic::kExact, or kFast with such weights.
enum class Products { kFloat32, kBFloat16, kInt8 };
// The coarsest that kFast may choose for this graph's weights.
Products fast_products(const Graph& graph);

class Bounds {
 public:
  Bounds(const Graph& graph, const Tensors& leaves, const SymbolValues& symbols, Products products, int num_trials, uint64_t seed);

  // Why the outputs disagree, or nothing. Floats are compared within the bounds, NaN and infinities as themselves, integers exactly,
  // unless the trials showed that rounding decides which they are.
  std::optional<std::string> disagreement(const Tensors& outputs) const;
  // Whether a half-precision value came so near to infinity that a program which keeps it in fp32 may differ.
  bool overflows() const { return overflows_; }
  // Of the outputs' elements, how many say nothing because rounding decides what they are.
  double undecided() const;

 private:
  struct Output {
    HostTensor value;
    std::vector<double> tolerance;  // infinite: undecided
  };
  std::map<std::string, Output> outputs_;
  bool overflows_ = false;
};

}  // namespace headrace::fuzzing
