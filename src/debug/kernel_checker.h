// Runs each step's reference beside its kernel, on the same operands, and compares.
#pragma once

#include <map>
#include <memory>

#include "debug/watched_plan.h"
#include "headrace/debug.h"

namespace headrace {

class KernelChecker {
 public:
  // `parameters` gives weights as they are stored: kernels hold them packed, references want them as they were.
  KernelChecker(const WatchedPlan& plan, std::unique_ptr<ParameterSource> parameters, bool exact);
  void before(size_t step, const Launch& launch);
  void after(size_t step, const Launch& launch);
  std::vector<KernelCheck> checks() const;

 private:
  const WatchedPlan& plan_;
  std::unique_ptr<ParameterSource> parameters_;
  bool exact_;
  HostTensor changed_;  // the operand that the step changes in place, as it was
  std::map<std::string, KernelCheck> checks_;
};

// What the relative difference of a node's results may come to. It follows from the coarsest rounding on the way, that of activations or
// of results, not from the length of sums; see docs/debugging.md.
double check_bound(const Node& node, bool exact);

}  // namespace headrace
