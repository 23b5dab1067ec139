#include "text/byte_trie.h"

namespace headrace {

void ByteTrie::insert(std::string_view key, int32_t value) {
  if (key.empty()) return;
  int32_t& first = first_[static_cast<unsigned char>(key[0])];
  if (first < 0) {
    first = static_cast<int32_t>(values_.size());
    values_.push_back(-1);
  }
  int32_t node = first;
  for (const char byte : key.substr(1)) {
    const int32_t next = child(node, byte);
    node = next >= 0 ? next : make_child(node, byte);
  }
  values_[static_cast<size_t>(node)] = value;
}

std::optional<ByteTrie::Found> ByteTrie::longest_prefix(std::string_view text) const {
  std::optional<Found> found;
  if (text.empty()) return found;
  int32_t node = root(text[0]);
  for (size_t length = 1; node >= 0; ++length) {
    if (value(node) >= 0) found = Found{value(node), length};
    if (length == text.size()) break;
    node = child(node, text[length]);
  }
  return found;
}

int32_t ByteTrie::make_child(int32_t node, char byte) {
  if (++num_edges_ * 2 > edges_.size()) grow();
  const auto child = static_cast<int32_t>(values_.size());
  values_.push_back(-1);
  const uint64_t key = edge(node, byte);
  size_t i = slot(key);
  while (edges_[i].key != kFree) i = (i + 1) & (edges_.size() - 1);
  edges_[i] = {key, child};
  return child;
}

void ByteTrie::grow() {
  std::vector<Edge> old(edges_.size() * 2);
  old.swap(edges_);
  for (const Edge& e : old) {
    if (e.key == kFree) continue;
    size_t i = slot(e.key);
    while (edges_[i].key != kFree) i = (i + 1) & (edges_.size() - 1);
    edges_[i] = e;
  }
}

}  // namespace headrace
