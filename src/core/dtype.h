// What code does per element type: one function and a generic lambda, no macros.
#pragma once

#include "core/error.h"
#include "core/float16.h"
#include "headrace/types.h"

namespace headrace {

// Calls body.template operator()<T>() with the C++ type of a non-block dtype.
template <typename Body>
decltype(auto) dispatch(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kF32: return body.template operator()<float>();
    case DType::kF16: return body.template operator()<Half>();
    case DType::kBF16: return body.template operator()<BFloat16>();
    case DType::kI64: return body.template operator()<int64_t>();
    case DType::kI32: return body.template operator()<int32_t>();
    case DType::kI8: return body.template operator()<int8_t>();
    case DType::kU8: return body.template operator()<uint8_t>();
    case DType::kBool: return body.template operator()<bool>();
    default: fail(ErrorCode::kUnsupported, "elements of block type {} cannot be read one by one", name(dtype));
  }
}

// numel * element size, or nothing when that overflows int64 or a block type's last size is no multiple of its block.
std::optional<int64_t> checked_bytes(DType dtype, std::span<const int64_t> sizes);

}  // namespace headrace
