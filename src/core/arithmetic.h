#pragma once

namespace headrace {

// How products with stored weights are computed.
enum class Arithmetic {
  kFast,   // activations rounded to the precision that the weights deserve: int8 per 32 elements for block types, bf16 for bf16
  kExact,  // weights widened to fp32 as core/blocks.h does, multiplied and summed in fp32
};

}  // namespace headrace
