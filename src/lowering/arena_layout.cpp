#include "lowering/arena_layout.h"

#include <algorithm>
#include <numeric>

namespace headrace {

int ArenaLayout::add(size_t bytes, int first, int last) {
  blocks_.push_back({(bytes + kAlignment - 1) / kAlignment * kAlignment, 0, first, last});
  return int(blocks_.size()) - 1;
}

void ArenaLayout::assign() {
  std::vector<int> order(blocks_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return blocks_[size_t(a)].bytes > blocks_[size_t(b)].bytes; });
  std::vector<const Block*> placed;  // by offset
  for (int i : order) {
    Block& block = blocks_[size_t(i)];
    size_t at = 0;
    for (const Block* other : placed) {
      if (other->last < block.first || other->first > block.last) continue;
      if (at + block.bytes <= other->offset) break;
      at = std::max(at, other->offset + other->bytes);
    }
    block.offset = at;
    total_ = std::max(total_, at + block.bytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), &block, [](const Block* a, const Block* b) { return a->offset < b->offset; }),
        &block);
  }
}

}  // namespace headrace
