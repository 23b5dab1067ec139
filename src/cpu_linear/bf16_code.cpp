#include "cpu_linear/bf16_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace headrace {
namespace {

constexpr int64_t kMostRare = 2048;  // one exception in so many words is worth it: about what a panel has room for
constexpr int kGroupWords = kRawGroupBytes / 2;
constexpr int kNumIndexed = 8;  // values of the upper seven exponent bits that have an index

int upper_exponent(uint16_t word) { return word >> 8 & 0x7f; }

// The most frequent upper exponents of some words.
struct Code {
  std::array<uint8_t, kNumIndexed> upper;  // by index
  std::array<uint8_t, 128> index;          // by upper exponent; kNumIndexed: none
  int64_t missed;                          // words that have none
};

Code best_code(const uint16_t* words, int64_t count) {
  int64_t histogram[4][128] = {};  // four, so that equal neighbours do not wait for each other
  for (int64_t i = 0; i < count; ++i) ++histogram[i % 4][upper_exponent(words[i])];
  for (int i = 0; i < 128; ++i) histogram[0][i] += histogram[1][i] + histogram[2][i] + histogram[3][i];
  std::array<uint8_t, 128> order;
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::partial_sort(order.begin(), order.begin() + kNumIndexed, order.end(),
                    [&](uint8_t a, uint8_t b) { return histogram[0][a] != histogram[0][b] ? histogram[0][a] > histogram[0][b] : a < b; });
  Code code{.missed = count};
  code.index.fill(kNumIndexed);
  for (int i = 0; i < kNumIndexed; ++i) {
    code.upper[size_t(i)] = order[size_t(i)];
    code.index[order[size_t(i)]] = uint8_t(i);
    code.missed -= histogram[0][order[size_t(i)]];
  }
  return code;
}

// One group, its exceptions under any index.
void encode_group(const uint16_t* raw, const Code& code, std::byte* coded) {
  uint8_t low[kGroupWords], index[kGroupWords];
  for (int run = 0; run < 16; ++run) {  // of 8 words: vector run / 4, words from 8 * (run % 4)
    const uint16_t* words = raw + run * 8;
    const int at = run / 8 * 64 + run % 4 * 16 + run / 4 % 2 * 8;
    for (int i = 0; i < 8; ++i) {
      low[at + i] = uint8_t(words[i]);
      index[at + i] = uint8_t((code.index[size_t(upper_exponent(words[i]))] & 7) | (words[i] >> 12 & 8));
    }
  }
  std::memcpy(coded, low, sizeof(low));
  for (int i = 0; i < 64; ++i) coded[128 + i] = std::byte(index[i] | index[64 + i] << 4);
}

}  // namespace

bool is_worth_coding(const uint16_t* words, int64_t count) { return best_code(words, count).missed <= count / kMostRare; }

bool encode_bf16(const uint16_t* raw, int64_t k, std::byte* coded) {
  const int64_t num_groups = coded_groups(k), num_words = num_groups * kGroupWords;
  const Code code = best_code(raw, num_words);
  CodedBf16Header header{};
  for (int i = 0; i < 16; ++i) header.high_bytes[i] = uint8_t((i & 8) << 4 | code.upper[size_t(i & 7)]);
  std::memcpy(coded, &header, sizeof(header));
  if (code.missed > exception_capacity(num_groups)) return false;
  std::byte* group = coded + coded_groups_at(num_groups);
  for (int64_t i = 0; i < num_words; i += kGroupWords, group += kCodedGroupBytes) encode_group(raw + i, code, group);
  std::byte* at = coded + sizeof(header);
  const auto put = [&](Bf16Exception exception) {
    std::memcpy(at, &exception, sizeof(exception));
    at += sizeof(exception);
  };
  for (int64_t i = 0; code.missed > 0 && i < num_words; ++i) {
    if (code.index[size_t(upper_exponent(raw[i]))] == kNumIndexed) put({uint32_t(i), raw[i]});
  }
  put({kNoException, 0});
  return true;
}

}  // namespace headrace
