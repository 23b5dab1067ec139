// The type numbers of GGUF: of metadata values, and of tensor elements (ggml's).
#pragma once

#include "weights/gguf.h"

namespace headrace {

// Bytes of one number or bool; 0 for strings and arrays.
size_t bytes_of(GgufType type);

// Nothing for a type that Headrace does not read, or that ggml does not have.
std::optional<DType> ggml_dtype(uint32_t type);
// As ggml spells it, or "unknown".
std::string_view ggml_type_name(uint32_t type);
// The names that ggml_dtype knows, comma-separated.
std::string supported_ggml_types();

}  // namespace headrace
