// The arithmetic of collectives, for transports that have none of their own.
#pragma once

#include <span>

#include "headrace/communicator.h"

namespace headrace {

inline constexpr std::string_view kRankReductionNames[] = {"sum", "mean", "max", "min"};
inline std::span<const std::string_view> enum_names(RankReduction) { return kRankReductionNames; }

// output[i] = the reduction of inputs[rank][i], for `count` elements of a plain type. Integers wrap around, their mean is cut towards zero;
// of bool, the sum is "or". NaN wins over numbers.
// `output` may be one of the inputs. Throws Error(kUnsupported) for block types.
void reduce_ranks(DType dtype, std::span<const void* const> inputs, void* output, int64_t count, RankReduction reduction);

}  // namespace headrace
