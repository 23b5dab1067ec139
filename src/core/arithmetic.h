#pragma once

namespace headrace {

// How products with stored weights, and with cached keys and values, are computed.
enum class Arithmetic {
  kFast,   // activations rounded to the precision that the weights deserve: int8 per 32 elements for block types, bf16 for bf16
  kExact,  // what is stored widened to fp32 as core/blocks.h does, multiplied and summed in fp32
};

}  // namespace headrace
