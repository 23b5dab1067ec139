// Merging the symbols of one piece, best pair first, leftmost among equals: the loop of every kind of byte-pair encoding.
// n symbols take O(n log n), whatever they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace {

struct Symbol {
  int32_t id;           // -1: no token
  uint32_t begin, end;  // bytes of the piece
  bool frozen = false;  // merges with nothing
};

struct MergeResult {
  uint32_t key;  // smaller is merged first
  int32_t id;
};

// Working memory, kept between pieces.
class Merger {
 public:
  // `lookup(left, right)` gives what two neighbours merge into, if they do. The symbols shrink to those that are left.
  template <typename Lookup>
  void merge(std::vector<Symbol>& symbols, Lookup&& lookup) {
    if (symbols.size() < 2) return;
    nodes_.clear();
    nodes_.reserve(symbols.size());
    for (size_t i = 0; i < symbols.size(); ++i)
      nodes_.push_back({symbols[i], kNever, -1, static_cast<int32_t>(i) - 1, static_cast<int32_t>(i) + 1});
    nodes_.back().next = -1;
    for (size_t i = 0; i + 1 < nodes_.size(); ++i) update(static_cast<int32_t>(i), lookup);
    if (nodes_.size() <= kShort) {
      merge_by_scanning(lookup);
    } else {
      merge_by_heap(lookup);
    }
    symbols.clear();
    for (int32_t i = 0; i >= 0; i = node(i).next) symbols.push_back(node(i).symbol);
  }

 private:
  static constexpr uint32_t kNever = UINT32_MAX;
  static constexpr size_t kShort = 24;  // up to here scanning beats the heap
  struct Node {
    Symbol symbol;
    uint32_t key;    // of merging this node with the next; kNever: it does not
    int32_t result;  // what that gives
    int32_t previous, next;
  };
  struct Entry {
    uint32_t key;
    int32_t at;
    bool operator<(const Entry& other) const { return key != other.key ? key > other.key : at > other.at; }
  };
  Node& node(int32_t i) { return nodes_[static_cast<size_t>(i)]; }

  template <typename Lookup>
  void update(int32_t i, Lookup&& lookup) {
    Node& left = node(i);
    left.key = kNever;
    if (left.next < 0 || left.symbol.frozen || node(left.next).symbol.frozen) return;
    if (const std::optional<MergeResult> merged = lookup(left.symbol, node(left.next).symbol)) {
      left.key = merged->key;
      left.result = merged->id;
    }
  }

  template <typename Lookup>
  void merge_with_next(int32_t i, Lookup&& lookup) {
    Node& left = node(i);
    Node& right = node(left.next);
    left.symbol.id = left.result;
    left.symbol.end = right.symbol.end;
    left.next = right.next;
    if (right.next >= 0) node(right.next).previous = i;
    right.key = kNever;
    update(i, lookup);
    if (left.previous >= 0) update(left.previous, lookup);
  }

  template <typename Lookup>
  void merge_by_scanning(Lookup&& lookup) {
    for (;;) {
      int32_t best = 0;
      for (int32_t i = 0; i >= 0; i = node(i).next)
        if (node(i).key < node(best).key) best = i;
      if (node(best).key == kNever) return;
      merge_with_next(best, lookup);
    }
  }

  // An entry counts if its node still has that key; one that has become stale is dropped when it comes up.
  template <typename Lookup>
  void merge_by_heap(Lookup&& lookup) {
    heap_.clear();
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].key != kNever) heap_.push_back({nodes_[i].key, static_cast<int32_t>(i)});
    std::make_heap(heap_.begin(), heap_.end());
    const auto push = [&](int32_t i) {
      if (i < 0 || node(i).key == kNever) return;
      heap_.push_back({node(i).key, i});
      std::push_heap(heap_.begin(), heap_.end());
    };
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Entry entry = heap_.back();
      heap_.pop_back();
      if (node(entry.at).key != entry.key) continue;
      merge_with_next(entry.at, lookup);
      push(entry.at);
      push(node(entry.at).previous);
    }
  }

  std::vector<Node> nodes_;
  std::vector<Entry> heap_;
};

}  // namespace headrace
