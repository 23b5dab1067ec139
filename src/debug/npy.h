// NumPy's file format, version 1.0: a header that says type and shape, then the elements.
#pragma once

#include <string>

#include "headrace/types.h"

namespace headrace {

// A tensor of any strides, as numpy.load reads it. float16 and whole numbers as they are; bfloat16 and block types widened to float32.
// Throws Error when the file cannot be written.
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace headrace
