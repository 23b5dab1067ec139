// FNV-1a, 64 bits: tells files and texts that have changed by accident from those that have not. No defence against intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace {

inline constexpr uint64_t kChecksumOfNothing = 0xcbf29ce484222325u;

// Of what `sum` is the checksum of, followed by `bytes`.
inline uint64_t checksum(std::span<const std::byte> bytes, uint64_t sum = kChecksumOfNothing) {
  for (std::byte b : bytes) sum = (sum ^ uint64_t(b)) * 0x100000001b3u;
  return sum;
}

}  // namespace headrace
