// Parameters of a program, read from a WeightSource.
#pragma once

#include "lowering/plan.h"
#include "weights/weight_source.h"

namespace headrace {

class WeightParameters : public ParameterSource {
 public:
  // Throws one Error that lists every parameter of the program which is missing in the source or has another type or other sizes there, and
  // every tensor of the source that is none.
  WeightParameters(const Graph& program, std::shared_ptr<const WeightSource> weights);
  Constant get(const std::string& path) override;
  void done_with(const std::string& path) override;

 private:
  std::shared_ptr<const WeightSource> weights_;
};

}  // namespace headrace
