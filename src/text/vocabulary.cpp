#include "text/vocabulary.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

constexpr size_t kMaxGap = 1 << 20;  // ids may run this far ahead of the number of tokens

uint64_t mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

uint64_t hash_bytes(std::string_view text) {
  constexpr uint64_t kSeed = 0x9e3779b97f4a7c15, kOdd = 0xd6e8feb86659fd93;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = kSeed ^ text.size();
  uint64_t word = 0;
  for (; left > 8; left -= 8, at += 8) {
    std::memcpy(&word, at, 8);
    hash = mix(hash ^ word, kOdd);
  }
  word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  return mix(hash ^ word, kOdd ^ kSeed);
}

void Vocabulary::reserve(size_t num_tokens, size_t num_bytes) {
  entries_.reserve(num_tokens);
  arena_.reserve(num_bytes);
  grow(std::bit_ceil(num_tokens * 2 + 16));
}

void Vocabulary::set(int32_t id, std::string_view text) {
  if (id < 0 || static_cast<size_t>(id) > num_set_ * 2 + kMaxGap)
    invalid("vocabulary: token '{}' has id {}, but there are only about {} tokens", printable(text), id, num_set_ + 1);
  if (arena_.size() + text.size() >= kAbsent) invalid("vocabulary: more than 4 GiB of text");
  if (static_cast<size_t>(id) >= entries_.size()) entries_.resize(static_cast<size_t>(id) + 1);
  Entry& entry = entries_[static_cast<size_t>(id)];
  if (entry.length == kAbsent) ++num_set_;
  entry = {static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(text.size())};
  arena_.append(text);
  longest_ = std::max(longest_, text.size());
  if ((num_set_ + 1) * 2 > slots_.size()) grow(std::max<size_t>(64, slots_.size() * 2));
  index(id, this->text(id), hash_bytes(text));
}

std::string_view Vocabulary::text(int32_t id) const {
  if (!has(id)) return {};
  const Entry entry = entries_[static_cast<size_t>(id)];
  return std::string_view(arena_).substr(entry.offset, entry.length);
}

std::optional<int32_t> Vocabulary::find(std::string_view text, uint64_t hash) const {
  if (slots_.empty()) return std::nullopt;
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask; slots_[i].id >= 0; i = (i + 1) & mask)
    if (slots_[i].hash == static_cast<uint32_t>(hash >> 32) && this->text(slots_[i].id) == text) return slots_[i].id;
  return std::nullopt;
}

// A text that is there already gets the new id.
void Vocabulary::index(int32_t id, std::string_view text, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].id >= 0 && !(slots_[i].hash == static_cast<uint32_t>(hash >> 32) && this->text(slots_[i].id) == text))
    i = (i + 1) & mask;
  slots_[i] = {static_cast<uint32_t>(hash >> 32), id};
}

void Vocabulary::grow(size_t num_slots) {
  std::vector<Slot> old(num_slots);
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.id >= 0) index(slot.id, text(slot.id), hash_bytes(text(slot.id)));
}

}  // namespace headrace
