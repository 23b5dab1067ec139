#include "text/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace headrace {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  constexpr size_t kMostBytes = 64 * 1024;
  size_t total = 0;
  for (const std::string& stop : stops_) total += stop.size();
  if (total > kMostBytes) invalid("stop strings of {} bytes together, at most {} are possible", total, kMostBytes);
  if (total > 0) build();
}

void StopMatcher::build() {
  nodes_.emplace_back();
  next_.assign(256, -1);
  for (size_t i = 0; i < stops_.size(); ++i) {
    int32_t node = kRoot;
    for (const char c : stops_[i]) {
      const auto byte = static_cast<unsigned char>(c);
      if (next(node, byte) < 0) {
        const auto child = static_cast<int32_t>(nodes_.size());
        next(node, byte) = child;
        nodes_.push_back({.depth = nodes_[static_cast<size_t>(node)].depth + 1});
        next_.resize(next_.size() + 256, -1);
      }
      node = next(node, byte);
    }
    int32_t& end = nodes_[static_cast<size_t>(node)].longest_end;
    if (node != kRoot && end < 0) end = static_cast<int32_t>(i);
  }
  // Breadth first: a node's fallback is complete before the node itself. Missing edges become those of the fallback.
  std::vector<int32_t> queue = {kRoot};
  for (size_t head = 0; head < queue.size(); ++head) {
    const int32_t node = queue[head];
    const int32_t fail = nodes_[static_cast<size_t>(node)].fail;
    if (nodes_[static_cast<size_t>(node)].longest_end < 0)
      nodes_[static_cast<size_t>(node)].longest_end = nodes_[static_cast<size_t>(fail)].longest_end;
    for (int byte = 0; byte < 256; ++byte) {
      int32_t& child = next(node, static_cast<unsigned char>(byte));
      const int32_t through_fail = node == kRoot ? kRoot : next(fail, static_cast<unsigned char>(byte));
      if (child < 0) {
        child = through_fail;
      } else {
        nodes_[static_cast<size_t>(child)].fail = through_fail;
        queue.push_back(child);
      }
    }
  }
}

// The first string to be complete is not always the first to begin: "abcd" and "bc" in "abcd". A match waits while the state
// still spells an earlier beginning; when that beginning fails, the match stands.
std::string StopMatcher::push(std::string_view text) {
  if (matched_) return {};
  if (nodes_.empty()) return std::string(text);
  held_ += text;
  const auto depth = [&](int32_t node) { return static_cast<size_t>(nodes_[static_cast<size_t>(node)].depth); };
  for (; read_ < held_.size(); ++read_) {
    state_ = next(state_, static_cast<unsigned char>(held_[read_]));
    const size_t end = read_ + 1;
    const int32_t found = nodes_[static_cast<size_t>(state_)].longest_end;
    if (found >= 0) {
      const size_t begin = end - stops_[static_cast<size_t>(found)].size();
      if (!waiting_ || begin < waiting_begin_) waiting_ = static_cast<size_t>(found), waiting_begin_ = begin;
    }
    if (waiting_ && end - depth(state_) >= waiting_begin_) return finish_match();
  }
  // What the state spells may be the beginning of a stop string, and so may what stands behind a match that waits.
  const size_t keep_from = std::min(held_.size() - depth(state_), waiting_ ? waiting_begin_ : held_.size());
  std::string safe = held_.substr(0, keep_from);
  held_.erase(0, keep_from);
  read_ -= keep_from;
  waiting_begin_ -= std::min(waiting_begin_, keep_from);
  return safe;
}

std::string StopMatcher::flush() {
  if (matched_) return {};
  if (waiting_) return finish_match();
  return std::exchange(held_, {});
}

std::string StopMatcher::finish_match() {
  matched_ = waiting_;
  std::string safe = held_.substr(0, waiting_begin_);
  held_.clear();
  return safe;
}

}  // namespace headrace
