// Which sequence holds which block of the KV cache. Hands out ids only; the bytes belong to the model.
// Full blocks can be shared: they are found again by what they hold and by everything before it (a prefix cache). Blocks that
// nobody holds but whose contents may be asked for again are given up least recently used first.
// Every block is either free, or cached (findable, held by nobody), or in use (held by one or more tables).
#pragma once

#include <unordered_map>

#include "headrace/types.h"

namespace headrace::runtime {

// The blocks of one sequence, in order of position. Only KvCache changes it.
struct BlockTable {
  std::vector<int32_t> blocks;
  int num_published = 0;        // leading blocks whose contents others can find
  uint64_t published_tail = 0;  // content id of the last of them; 0: none
};

class KvCache {
 public:
  enum class Sharing { kNone, kPrefixes };

  KvCache(int num_blocks, int block_tokens, Sharing sharing);

  // Fills an empty table with the longest known beginning of `tokens`, in full blocks and short of the last token, which has
  // to be computed to give logits. Returns the number of tokens found.
  int attach(BlockTable& table, std::span<const int32_t> tokens);
  // Makes room for num_tokens tokens in all. False, and nothing has changed, when there is none.
  bool extend(BlockTable& table, int num_tokens);
  // tokens[0, num_computed) have been computed: full blocks among them become findable. A block that holds the same as one
  // already known is replaced by it.
  void publish(BlockTable& table, std::span<const int32_t> tokens, int num_computed);
  // Last block first, so that a beginning outlives its continuations.
  void release(BlockTable& table);

  // No block's contents are found any more. No table may hold one.
  void forget_all();

  int blocks_for(int num_tokens) const { return (num_tokens + block_tokens_ - 1) / block_tokens_; }
  int num_blocks() const { return int(blocks_.size()); }
  int num_available() const { return num_free() + num_cached(); }  // for extend
  int num_free() const { return int(free_.size()); }
  int num_cached() const { return num_cached_; }
  int num_used() const { return num_blocks() - num_available(); }

  // For tests: throws Error(kInternal) unless `tables` are all that is held and every count and list agrees.
  void check_invariants(std::span<const BlockTable* const> tables) const;

 private:
  // Contents are named by a number that is never used twice, so "this block after that content" is exact by induction.
  struct Block {
    int references = 0;
    uint64_t content = 0;            // 0: not findable
    uint64_t parent = 0;             // content of the block before
    uint64_t hash = 0;               // of parent and tokens
    int32_t newer = -1, older = -1;  // neighbours among the cached
  };
  uint64_t hash(uint64_t parent, std::span<const int32_t> tokens) const;
  // The block that holds `tokens` after `parent`, compared token by token.
  std::optional<int32_t> find(uint64_t parent, std::span<const int32_t> tokens) const;
  std::span<const int32_t> tokens_of(int32_t block) const {
    return std::span(tokens_).subspan(size_t(block) * block_tokens_, block_tokens_);
  }
  void hold(int32_t block);
  void drop(int32_t block);
  int32_t take();  // there must be one available
  void forget(int32_t block);
  void unlink(int32_t block);

  int block_tokens_;
  Sharing sharing_;
  std::vector<Block> blocks_;
  std::vector<int32_t> tokens_;  // (num_blocks, block_tokens) contents of findable blocks
  std::vector<int32_t> free_;
  std::unordered_multimap<uint64_t, int32_t> by_hash_;
  int32_t newest_ = -1, oldest_ = -1;  // of the cached
  int num_cached_ = 0;
  uint64_t last_content_ = 0;
};

}  // namespace headrace::runtime
