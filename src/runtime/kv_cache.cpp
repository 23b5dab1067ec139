#include "runtime/kv_cache.h"

#include <algorithm>

#include "core/error.h"

namespace headrace::runtime {

KvCache::KvCache(int num_blocks, int block_tokens, Sharing sharing)
    : block_tokens_(block_tokens), sharing_(sharing), blocks_(num_blocks), free_(num_blocks) {
  for (int i = 0; i < num_blocks; ++i) free_[i] = num_blocks - 1 - i;  // block 0 is taken first
  if (sharing == Sharing::kPrefixes) tokens_.resize(size_t(num_blocks) * block_tokens);
}

int KvCache::attach(BlockTable& table, std::span<const int32_t> tokens) {
  if (sharing_ == Sharing::kNone) return 0;
  for (size_t end = block_tokens_; end < tokens.size(); end += block_tokens_) {
    const auto block = find(table.published_tail, tokens.subspan(end - block_tokens_, block_tokens_));
    if (!block) break;
    hold(*block);
    table.blocks.push_back(*block);
    table.published_tail = blocks_[*block].content;
    ++table.num_published;
  }
  return table.num_published * block_tokens_;
}

bool KvCache::extend(BlockTable& table, int num_tokens) {
  const int wanted = blocks_for(num_tokens) - int(table.blocks.size());
  if (wanted > num_available()) return false;
  for (int i = 0; i < wanted; ++i) table.blocks.push_back(take());
  return true;
}

void KvCache::publish(BlockTable& table, std::span<const int32_t> tokens, int num_computed) {
  if (sharing_ == Sharing::kNone) return;
  while ((table.num_published + 1) * block_tokens_ <= num_computed) {
    int32_t& id = table.blocks[table.num_published];
    const auto contents = tokens.subspan(size_t(table.num_published) * block_tokens_, block_tokens_);
    if (const auto known = find(table.published_tail, contents)) {
      hold(*known);
      drop(id);
      id = *known;
    } else {
      Block& block = blocks_[id];
      block.content = ++last_content_;
      block.parent = table.published_tail;
      block.hash = hash(block.parent, contents);
      std::copy(contents.begin(), contents.end(), tokens_.begin() + size_t(id) * block_tokens_);
      by_hash_.emplace(block.hash, id);
    }
    table.published_tail = blocks_[id].content;
    ++table.num_published;
  }
}

void KvCache::release(BlockTable& table) {
  for (auto block = table.blocks.rbegin(); block != table.blocks.rend(); ++block) drop(*block);
  table = {};
}

// ---------------------------------------------------------------------------------------------------------------- contents

uint64_t KvCache::hash(uint64_t parent, std::span<const int32_t> tokens) const {
  uint64_t h = parent * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  for (int32_t token : tokens) {
    h = (h ^ uint32_t(token)) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

std::optional<int32_t> KvCache::find(uint64_t parent, std::span<const int32_t> tokens) const {
  for (auto [at, end] = by_hash_.equal_range(hash(parent, tokens)); at != end; ++at) {
    const int32_t block = at->second;
    if (blocks_[block].parent == parent && std::ranges::equal(tokens_of(block), tokens)) return block;
  }
  return std::nullopt;
}

void KvCache::forget(int32_t id) {
  Block& block = blocks_[id];
  for (auto [at, end] = by_hash_.equal_range(block.hash); at != end; ++at)
    if (at->second == id) {
      by_hash_.erase(at);
      break;
    }
  block.content = block.parent = block.hash = 0;
}

void KvCache::forget_all() {
  while (oldest_ >= 0) {
    const int32_t id = oldest_;
    unlink(id);
    forget(id);
    free_.push_back(id);
  }
}

// ---------------------------------------------------------------------------------------------------------------- references

void KvCache::hold(int32_t id) {
  if (blocks_[id].references++ == 0) unlink(id);
}

void KvCache::drop(int32_t id) {
  Block& block = blocks_[id];
  if (--block.references > 0) return;
  if (block.content == 0) {
    free_.push_back(id);
    return;
  }
  block.older = newest_;
  block.newer = -1;
  (newest_ >= 0 ? blocks_[newest_].newer : oldest_) = id;
  newest_ = id;
  ++num_cached_;
}

int32_t KvCache::take() {
  int32_t id;
  if (!free_.empty()) {
    id = free_.back();
    free_.pop_back();
  } else {
    id = oldest_;
    unlink(id);
    forget(id);
  }
  blocks_[id].references = 1;
  return id;
}

void KvCache::unlink(int32_t id) {
  Block& block = blocks_[id];
  (block.newer >= 0 ? blocks_[block.newer].older : newest_) = block.older;
  (block.older >= 0 ? blocks_[block.older].newer : oldest_) = block.newer;
  block.newer = block.older = -1;
  --num_cached_;
}

// ---------------------------------------------------------------------------------------------------------------- invariants

void KvCache::check_invariants(std::span<const BlockTable* const> tables) const {
  const auto expect = [](bool holds, std::string_view what) {
    if (!holds) fail(ErrorCode::kInternal, "KV cache: {}", what);
  };
  std::vector<int> references(blocks_.size()), seen(blocks_.size());
  for (const BlockTable* table : tables) {
    uint64_t parent = 0;
    for (size_t i = 0; i < table->blocks.size(); ++i) {
      const Block& block = blocks_[table->blocks[i]];
      ++references[table->blocks[i]];
      if (int(i) < table->num_published) {
        expect(block.content != 0 && block.parent == parent, "a published block does not follow the one before");
        parent = block.content;
      } else {
        expect(block.content == 0 && block.references == 1, "a block that is being written is shared or findable");
      }
    }
    expect(table->published_tail == parent, "a table's tail is not its last published block");
  }
  for (size_t i = 0; i < blocks_.size(); ++i) expect(blocks_[i].references == references[i], "a block's references are not the tables'");
  for (int32_t id : free_)
    expect(blocks_[id].references == 0 && blocks_[id].content == 0 && !seen[id]++, "a free block is in use or findable");
  int cached = 0;
  for (int32_t id = oldest_; id >= 0; id = blocks_[id].newer, ++cached)
    expect(blocks_[id].references == 0 && blocks_[id].content != 0 && !seen[id]++, "a cached block is in use or not findable");
  expect(cached == num_cached_, "the number of cached blocks is wrong");
  size_t findable = 0;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    expect((blocks_[i].references > 0) != (seen[i] > 0), "a block is both in use and available, or neither");
    findable += blocks_[i].content != 0;
  }
  expect(findable == by_hash_.size(), "the index and the findable blocks differ");
  for (auto [h, id] : by_hash_)
    expect(blocks_[id].content != 0 && h == hash(blocks_[id].parent, tokens_of(id)), "the index has a wrong hash");
}

}  // namespace headrace::runtime
