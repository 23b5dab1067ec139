// The tokens of a vocabulary: text by id and id by text. All text lies in one arena; the index is one flat hash table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

uint64_t hash_bytes(std::string_view text);

class Vocabulary {
 public:
  // Room for this many tokens and bytes of text; more is allowed.
  void reserve(size_t num_tokens, size_t num_bytes);
  // Gives `id` its text, which find() then returns (the last id, when several share a text). Ids may come in any order with gaps.
  // Throws Error(kInvalidArgument) when the id is negative or far beyond the number of tokens.
  void set(int32_t id, std::string_view text);
  void add(std::string_view text) { set(size(), text); }

  int32_t size() const { return static_cast<int32_t>(entries_.size()); }  // one past the largest id
  bool has(int32_t id) const { return id >= 0 && id < size() && entries_[static_cast<size_t>(id)].length != kAbsent; }
  std::string_view text(int32_t id) const;  // empty for an id without a token
  std::optional<int32_t> find(std::string_view text) const { return find(text, hash_bytes(text)); }
  std::optional<int32_t> find(std::string_view text, uint64_t hash) const;
  size_t longest() const { return longest_; }  // bytes of the longest token

 private:
  static constexpr uint32_t kAbsent = UINT32_MAX;
  struct Entry {
    uint32_t offset = 0, length = kAbsent;
  };
  struct Slot {
    uint32_t hash = 0;
    int32_t id = -1;
  };
  void index(int32_t id, std::string_view text, uint64_t hash);
  void grow(size_t num_slots);

  std::string arena_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;
  size_t num_set_ = 0, longest_ = 0;
};

}  // namespace headrace
