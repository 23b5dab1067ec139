// Weights made of chance, for measuring and testing a model of which only the configuration is there.
#pragma once

#include "weights/weight_source.h"

namespace headrace {

struct RandomWeightsOptions {
  uint64_t seed = 0;
  // Of tensors with two axes or more whose type is not declared; f16 where rows are no multiple of a block.
  DType matrix_dtype = DType::kBF16;
};

// Values depend on the seed and the name only. Matrices are about normal with deviation 0.02; one axis (norms, biases) is fp32:
// 1 + 0.02 x normal for a ".weight" (it scales a norm), 0.02 x normal for anything else.
// Throws Error(kUnsupported) for a matrix type that values cannot be rounded to (the K types).
std::shared_ptr<WeightSource> random_weights(std::vector<DeclaredWeight> declared, const RandomWeightsOptions& options = {});

}  // namespace headrace
