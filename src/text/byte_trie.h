// A trie over bytes whose edges lie in one flat hash table: quick to build, a few nanoseconds per step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headrace {

class ByteTrie {
 public:
  struct Found {
    int32_t value;
    size_t length;
  };

  ByteTrie() { first_.fill(-1); }
  // Value of `key`, at least 0; an empty key is ignored, a key that is there already gets the new value.
  void insert(std::string_view key, int32_t value);
  bool empty() const { return values_.empty(); }
  // The node reached from the root by one byte, and from a node by one byte; -1 when there is none.
  int32_t root(char byte) const { return first_[static_cast<unsigned char>(byte)]; }
  int32_t child(int32_t node, char byte) const {
    const uint64_t key = edge(node, byte);
    for (size_t i = slot(key);; i = (i + 1) & (edges_.size() - 1)) {
      if (edges_[i].key == key) return edges_[i].child;
      if (edges_[i].key == kFree) return -1;
    }
  }
  int32_t value(int32_t node) const { return values_[static_cast<size_t>(node)]; }  // -1: no key ends here
  // The longest key that `text` starts with.
  std::optional<Found> longest_prefix(std::string_view text) const;

 private:
  static constexpr uint64_t kFree = UINT64_MAX;
  struct Edge {
    uint64_t key = kFree;
    int32_t child = -1;
  };
  static uint64_t edge(int32_t node, char byte) { return static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(byte); }
  size_t slot(uint64_t key) const { return (key * 0x9e3779b97f4a7c15u >> 20) & (edges_.size() - 1); }
  int32_t make_child(int32_t node, char byte);
  void grow();

  std::array<int32_t, 256> first_;
  std::vector<Edge> edges_ = std::vector<Edge>(64);
  std::vector<int32_t> values_;
  size_t num_edges_ = 0;
};

}  // namespace headrace
