#include "cpu_linear/bf16_code.h"

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

constexpr int kWindow = 7;           // values of the upper seven exponent bits that have an index, besides 0
constexpr int64_t kMostRare = 512;   // one exception in so many words is worth it
constexpr int kGroupWords = kRawGroupBytes / 2;

int upper_exponent(uint16_t word) { return word >> 8 & 0x7f; }

struct Window {
  int first;       // upper exponents [first, first + kWindow) have an index, and 0
  int64_t missed;  // words that have none
};

Window best_window(const uint16_t* words, int64_t count) {
  int64_t histogram[4][128] = {};  // four, so that equal neighbours do not wait for each other
  for (int64_t i = 0; i < count; ++i) ++histogram[i % 4][upper_exponent(words[i])];
  int64_t sums[129] = {};
  for (int i = 0; i < 128; ++i) sums[i + 1] = sums[i] + histogram[0][i] + histogram[1][i] + histogram[2][i] + histogram[3][i];
  Window best{1, count};
  for (int first = 1; first + kWindow <= 128; ++first) {
    const int64_t missed = count - sums[1] - (sums[first + kWindow] - sums[first]);
    if (missed < best.missed) best = {first, missed};
  }
  return best;
}

int64_t exceptions_at(int64_t k) { return int64_t(sizeof(CodedBf16Header)) + coded_groups(k) * kCodedGroupBytes; }

// One group, its exceptions as if they had an index.
void encode_group(const uint16_t* raw, int before, std::byte* coded) {
  uint8_t low[kGroupWords], index[kGroupWords];
  for (int run = 0; run < 16; ++run) {  // of 8 words: vector run / 4, words from 8 * (run % 4)
    const uint16_t* words = raw + run * 8;
    const int at = run / 8 * 64 + run % 4 * 16 + run / 4 % 2 * 8;
    for (int i = 0; i < 8; ++i) {
      const int upper = upper_exponent(words[i]);
      low[at + i] = uint8_t(words[i]);
      index[at + i] = uint8_t(((upper == 0 ? 0 : upper - before) & 7) | (words[i] >> 12 & 8));
    }
  }
  std::memcpy(coded, low, sizeof(low));
  for (int i = 0; i < 64; ++i) coded[128 + i] = std::byte(index[i] | index[64 + i] << 4);
}

}  // namespace

int64_t coded_bf16_bytes(int64_t k) {
  const int64_t exceptions = (exception_capacity(k) + 1) * int64_t(sizeof(Bf16Exception));
  return (exceptions_at(k) + exceptions + 63) / 64 * 64;
}

bool is_worth_coding(const uint16_t* words, int64_t count) { return best_window(words, count).missed <= count / kMostRare; }

bool encode_bf16(const uint16_t* raw, int64_t k, std::byte* coded) {
  const int64_t num_words = coded_groups(k) * kGroupWords;
  const Window window = best_window(raw, num_words);
  CodedBf16Header header{};
  for (int i = 0; i < 16; ++i) header.high_bytes[i] = uint8_t((i & 8) << 4 | (i & 7 ? window.first + (i & 7) - 1 : 0));
  header.exceptions_at = exceptions_at(k);
  std::memcpy(coded, &header, sizeof(header));
  if (window.missed > exception_capacity(k)) return false;
  std::byte* group = coded + sizeof(header);
  for (int64_t i = 0; i < num_words; i += kGroupWords, group += kCodedGroupBytes) encode_group(raw + i, window.first - 1, group);
  std::byte* at = coded + header.exceptions_at;
  const auto put = [&](Bf16Exception exception) {
    std::memcpy(at, &exception, sizeof(exception));
    at += sizeof(exception);
  };
  for (int64_t i = 0; window.missed > 0 && i < num_words; ++i) {
    const int upper = upper_exponent(raw[i]);
    if (upper != 0 && (upper < window.first || upper >= window.first + kWindow)) put({uint32_t(i), raw[i]});
  }
  put({kNoException, 0});
  return true;
}

const Bf16Exception* put_exceptions(const Bf16Exception* next, uint32_t first, uint32_t count, std::byte* raw) {
  for (; next->word - first < count; ++next) std::memcpy(raw + (next->word - first) * 2, &next->value, 2);
  return next;
}

void decode_bf16(Bf16Decoder decode, const std::byte* coded, int64_t k, std::byte* raw) {
  const CodedBf16Header& header = *reinterpret_cast<const CodedBf16Header*>(coded);
  decode(coded + sizeof(header), header.high_bytes, coded_groups(k), raw);
  put_exceptions(reinterpret_cast<const Bf16Exception*>(coded + header.exceptions_at), 0, uint32_t(coded_groups(k) * kGroupWords), raw);
}

}  // namespace headrace
