#include "plugin/call_context.h"

namespace headrace {

headrace_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return HEADRACE_INVALID_ARGUMENT;
    case ErrorCode::kNotFound: return HEADRACE_NOT_FOUND;
    case ErrorCode::kUnsupported: return HEADRACE_UNSUPPORTED;
    case ErrorCode::kOutOfMemory: return HEADRACE_OUT_OF_MEMORY;
    case ErrorCode::kInternal: return HEADRACE_INTERNAL;
  }
  return HEADRACE_INTERNAL;
}

ErrorCode code_of(headrace_status status) {
  switch (status) {
    case HEADRACE_INVALID_ARGUMENT: return ErrorCode::kInvalidArgument;
    case HEADRACE_NOT_FOUND: return ErrorCode::kNotFound;
    case HEADRACE_UNSUPPORTED: return ErrorCode::kUnsupported;
    case HEADRACE_OUT_OF_MEMORY: return ErrorCode::kOutOfMemory;
    default: return ErrorCode::kInternal;
  }
}

}  // namespace headrace
