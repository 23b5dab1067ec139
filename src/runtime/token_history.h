// Which tokens a sequence holds and how often its output does: what the penalties ask. Grows with distinct tokens, not with the vocabulary.
#pragma once

#include <unordered_map>

#include "headrace/types.h"

namespace headrace::runtime {

class TokenHistory {
 public:
  struct Entry {
    int32_t token;
    int in_output;  // times
  };

  void add_prompt(std::span<const int32_t> tokens) {
    for (int32_t token : tokens) entry(token);
  }
  void add_output(int32_t token) { ++entry(token).in_output; }

  // Distinct tokens of prompt and output, in order of first appearance.
  std::span<const Entry> entries() const { return entries_; }

 private:
  Entry& entry(int32_t token) {
    const auto [at, is_new] = index_.try_emplace(token, entries_.size());
    if (is_new) entries_.push_back({token, 0});
    return entries_[at->second];
  }
  std::vector<Entry> entries_;
  std::unordered_map<int32_t, size_t> index_;
};

}  // namespace headrace::runtime
