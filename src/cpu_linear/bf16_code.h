// Bfloat16 panels in 12 instead of 16 bits, without loss: decoding is bound by memory, and trained weights use few exponents.
// A word's low byte is kept; its high byte (sign and upper exponent bits) becomes a 4-bit index into 16 bytes that the panel chooses:
// +-0 and seven neighbouring values each way, which span 14 binades. The few words with another high byte are listed; a panel that
// has too many of them stays as it was, elsewhere.
//
// A coded panel: CodedBf16Header, groups of 8 k, exceptions. A group (four kBF16 blocks, 256 bytes) takes 192 bytes: low bytes of its
// vectors 0 and 1, of 2 and 3, then 64 bytes of indices, low halves for the first 64 low bytes and high halves for the others. Within
// 16 low bytes, the first 8 belong to words 8j .. 8j + 7 of the first vector and the others to those of the second: interleaving
// low and high bytes yields vectors of words.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

inline constexpr int kCodedGroupK = 8;
inline constexpr int kCodedGroupBytes = 192;
inline constexpr int kRawGroupBytes = 256;

struct alignas(64) CodedBf16Header {
  uint8_t high_bytes[16];  // by index
  int64_t exceptions_at;   // bytes from the header
  const std::byte* raw;    // the panel itself, unless null
};

// In order, and one past the last that has word kNoException.
struct Bf16Exception {
  uint32_t word;  // within the panel
  uint16_t value;
};
inline constexpr uint32_t kNoException = 0xffffffffu;

inline int64_t coded_groups(int64_t k) { return (k + kCodedGroupK - 1) / kCodedGroupK; }
inline int64_t exception_capacity(int64_t k) { return coded_groups(k) / 2 + 8; }
int64_t coded_bf16_bytes(int64_t k);  // of a panel: a multiple of 64

// Whether a sample of words says that coding is worth it.
bool is_worth_coding(const uint16_t* words, int64_t count);

// Codes a panel (whole groups). False when it has too many exceptions: then the header wants `raw`.
bool encode_bf16(const uint16_t* raw, int64_t k, std::byte* coded);

// Puts exceptions from `next` on into the words [first, first + count) that lie at raw; returns the first one past them.
const Bf16Exception* put_exceptions(const Bf16Exception* next, uint32_t first, uint32_t count, std::byte* raw);

// Decodes a panel into whole groups. decode: the instruction set's function for what has no exceptions.
using Bf16Decoder = void (*)(const std::byte* groups, const uint8_t* high_bytes, int64_t num_groups, std::byte* raw);
void decode_bf16(Bf16Decoder decode, const std::byte* coded, int64_t k, std::byte* raw);

}  // namespace headrace
