// Places blocks with lifetimes into one stretch of memory so that blocks alive at the same time do not overlap.
#pragma once

#include <cstddef>
#include <vector>

namespace headrace {

class ArenaLayout {
 public:
  static constexpr size_t kAlignment = 64;
  // A block that is alive from step `first` to step `last`, both included. Returns its number.
  int add(size_t bytes, int first, int last);
  // Largest first, each at the lowest offset that no block alive at the same time occupies.
  void assign();
  size_t offset(int block) const { return blocks_[size_t(block)].offset; }
  size_t total_bytes() const { return total_; }

 private:
  struct Block {
    size_t bytes, offset;
    int first, last;
  };
  std::vector<Block> blocks_;
  size_t total_ = 0;
};

}  // namespace headrace
