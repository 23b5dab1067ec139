// Bfloat16 panels in 12 instead of 16 bits, without loss: decoding is bound by memory, and trained weights use few exponents.
// A word's low byte is kept; its high byte (sign and upper seven exponent bits) becomes a 4-bit index into 16 bytes: the panel's eight
// most frequent upper exponents, mostly neighbours that span 16 binades, with either sign. The few words with another high byte are
// listed; a panel that has too many of them stays as it was, elsewhere.
//
// A coded panel: CodedBf16Header, exceptions, at coded_groups_at() groups of 8 k: what is needed first lies first, so that memory is
// read in order. A group (four kBF16 blocks, 256 bytes) takes 192 bytes: low bytes of its vectors 0 and 1, of 2 and 3, then 64 bytes of
// indices, low halves for the first 64 low bytes and high halves for the others. Within 16 low bytes, the first 8 belong to words
// 8j .. 8j + 7 of the first vector and the others to those of the second: interleaving low and high bytes yields vectors of words.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

inline constexpr int kCodedGroupK = 8;
inline constexpr int kCodedGroupBytes = 192;
inline constexpr int kRawGroupBytes = 256;

struct CodedBf16Header {
  uint8_t high_bytes[16];  // by index
  const std::byte* raw;    // the panel itself, unless null
};

// In order, and one past the last that has word kNoException.
struct Bf16Exception {
  uint32_t word;  // within the panel
  uint16_t value;
};
inline constexpr uint32_t kNoException = 0xffffffffu;

inline int64_t coded_groups(int64_t k) { return (k + kCodedGroupK - 1) / kCodedGroupK; }
inline int64_t exception_capacity(int64_t groups) { return groups / 16 + 8; }
inline int64_t coded_groups_at(int64_t groups) {
  return (int64_t(sizeof(CodedBf16Header)) + (exception_capacity(groups) + 1) * int64_t(sizeof(Bf16Exception)) + 63) / 64 * 64;
}
inline int64_t coded_bf16_bytes(int64_t k) { return coded_groups_at(coded_groups(k)) + coded_groups(k) * kCodedGroupBytes; }  // of a panel
inline const Bf16Exception* exceptions_of(const std::byte* coded) {
  return reinterpret_cast<const Bf16Exception*>(coded + sizeof(CodedBf16Header));
}

// Whether a sample of words says that coding is worth it.
bool is_worth_coding(const uint16_t* words, int64_t count);

// Codes a panel (whole groups). False when it has too many exceptions: then the header wants `raw`.
bool encode_bf16(const uint16_t* raw, int64_t k, std::byte* coded);

}  // namespace headrace
