// Philox4x32-10: random numbers as a function of a key and a counter, without state.
// Salmon, Moraes, Dror, Shaw 2011: "Parallel random numbers: as easy as 1, 2, 3", sections 3.3 and 4.
#pragma once

#include <array>
#include <cstdint>

namespace headrace::runtime {

constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b), uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

// The number in [0, 1) that decides what token stands at `position` of a sequence. Multiples of 2^-53.
constexpr double uniform_at(uint64_t seed, uint64_t position) {
  const auto bits = philox({uint32_t(position), uint32_t(position >> 32), 0, 0}, {uint32_t(seed), uint32_t(seed >> 32)});
  return double((uint64_t{bits[1]} << 32 | bits[0]) >> 11) * 0x1p-53;
}

}  // namespace headrace::runtime
