// Finds stop strings in text while it comes. Text that may be the beginning of one is held back; the text before a match is all
// that is given out. Aho-Corasick: one table look-up per byte, however many strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

class StopMatcher {
 public:
  // Empty strings are ignored. Throws Error(kInvalidArgument) when they have more than 64 KiB together.
  explicit StopMatcher(std::vector<std::string> stops);

  // The text that is now certain to stand before any match. Of several matches the one that begins first wins, of those that begin
  // together the one that is complete first. After a match nothing comes out any more.
  std::string push(std::string_view text);
  // What was held back, when the text ends without a match.
  std::string flush();
  // Which of the strings was found.
  std::optional<size_t> matched() const { return matched_; }
  const std::string& stop(size_t i) const { return stops_[i]; }

 private:
  static constexpr int32_t kRoot = 0;
  struct Node {
    int32_t fail = kRoot;
    uint32_t depth = 0;
    int32_t longest_end = -1;  // the longest stop string that ends here, this node's own or one of its suffixes'
  };
  int32_t& next(int32_t node, unsigned char byte) { return next_[static_cast<size_t>(node) * 256 + byte]; }
  void build();
  std::string finish_match();

  std::vector<std::string> stops_;
  std::vector<Node> nodes_;
  std::vector<int32_t> next_;  // (node, byte) -> node
  int32_t state_ = kRoot;
  std::string held_;                         // not yet given out
  size_t read_ = 0;                          // bytes of it that the state has seen
  std::optional<size_t> waiting_, matched_;  // complete, but something that began earlier may still become complete
  size_t waiting_begin_ = 0;                 // in held_
};

}  // namespace headrace
