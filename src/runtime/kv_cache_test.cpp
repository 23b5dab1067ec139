#include "runtime/kv_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace headrace::runtime {
namespace {

std::vector<int32_t> iota(int count, int first = 0) {
  std::vector<int32_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

TEST(KvCache, ExtendsBlockByBlockAndChangesNothingWithoutRoom) {
  KvCache cache(3, 4, KvCache::Sharing::kPrefixes);
  BlockTable a, b;
  EXPECT_TRUE(cache.extend(a, 4));
  EXPECT_EQ(a.blocks, (std::vector<int32_t>{0}));
  EXPECT_TRUE(cache.extend(a, 5));
  EXPECT_EQ(a.blocks.size(), 2);
  EXPECT_FALSE(cache.extend(b, 8));
  EXPECT_TRUE(b.blocks.empty());
  EXPECT_EQ(cache.num_available(), 1);
  EXPECT_TRUE(cache.extend(b, 1));
  cache.release(a);
  EXPECT_EQ(cache.num_free(), 2);
}

TEST(KvCache, FindsFullBlocksButLeavesTheLastTokenToCompute) {
  KvCache cache(8, 4, KvCache::Sharing::kPrefixes);
  const auto tokens = iota(8);
  BlockTable a, b, c;
  cache.extend(a, 8);
  cache.publish(a, tokens, 7);
  EXPECT_EQ(a.num_published, 1) << "the second block is not full";
  cache.publish(a, tokens, 8);
  EXPECT_EQ(cache.attach(b, tokens), 4) << "token 7 must be computed to give logits";
  EXPECT_EQ(cache.attach(c, iota(9)), 8);
  EXPECT_EQ(c.blocks, a.blocks);
  const BlockTable* tables[] = {&a, &b, &c};
  cache.check_invariants(tables);
}

TEST(KvCache, ABlockIsFoundOnlyAfterTheSameBeginning) {
  KvCache cache(8, 2, KvCache::Sharing::kPrefixes);
  BlockTable a, b;
  const std::vector<int32_t> first = {1, 2, 3, 4}, second = {9, 9, 3, 4, 5};
  cache.extend(a, 4);
  cache.publish(a, first, 4);
  EXPECT_EQ(cache.attach(b, second), 0);
  EXPECT_EQ(cache.attach(b, std::vector<int32_t>{1, 2, 9, 9, 5}), 2);
}

TEST(KvCache, EqualBlocksComputedTwiceBecomeOne) {
  KvCache cache(8, 2, KvCache::Sharing::kPrefixes);
  BlockTable a, b;
  const auto tokens = iota(4);
  cache.extend(a, 4);
  cache.extend(b, 4);
  cache.publish(a, tokens, 4);
  cache.publish(b, tokens, 4);
  EXPECT_EQ(a.blocks, b.blocks);
  EXPECT_EQ(cache.num_used(), 2);
  const BlockTable* tables[] = {&a, &b};
  cache.check_invariants(tables);
}

TEST(KvCache, GivesUpTheLeastRecentlyUsedAndContinuationsBeforeBeginnings) {
  KvCache cache(4, 2, KvCache::Sharing::kPrefixes);
  BlockTable a, b;
  cache.extend(a, 4);
  cache.publish(a, iota(4), 4);
  cache.release(a);
  EXPECT_EQ(cache.num_cached(), 2);
  cache.extend(b, 6);  // two free blocks, and one that was cached
  EXPECT_EQ(cache.attach(a, iota(5)), 2) << "the second block is gone, the first is still there";
  const BlockTable* tables[] = {&a, &b};
  cache.check_invariants(tables);
}

TEST(KvCache, SharesNothingWhenToldSo) {
  KvCache cache(4, 2, KvCache::Sharing::kNone);
  BlockTable a, b;
  cache.extend(a, 4);
  cache.publish(a, iota(4), 4);
  EXPECT_EQ(cache.attach(b, iota(5)), 0);
  cache.release(a);
  EXPECT_EQ(cache.num_free(), 4);
}

TEST(KvCache, KeepsItsInvariantsThroughRandomUse) {
  std::mt19937 random(1);
  KvCache cache(24, 3, KvCache::Sharing::kPrefixes);
  struct Holder {
    BlockTable table;
    std::vector<int32_t> tokens;
    int computed = 0;
  };
  std::vector<Holder> holders(6);
  int found = 0, refused = 0;
  for (int step = 0; step < 20000; ++step) {
    Holder& h = holders[random() % holders.size()];
    if (h.tokens.empty()) {
      h.tokens.resize(1 + random() % 40);
      for (int32_t& t : h.tokens) t = random() % 8 == 0;  // few different beginnings
      found += h.computed = cache.attach(h.table, h.tokens);
    } else if (random() % 8 == 0 || h.computed == int(h.tokens.size())) {
      cache.release(h.table);
      h = {};
    } else {
      const int next = std::min<int>(h.tokens.size(), h.computed + 1 + random() % 7);
      if (cache.extend(h.table, next)) {
        if (random() % 16) cache.publish(h.table, h.tokens, h.computed = next);  // otherwise the step failed
      } else {
        ++refused;
      }
    }
    std::vector<const BlockTable*> tables;
    for (const Holder& holder : holders) tables.push_back(&holder.table);
    ASSERT_NO_THROW(cache.check_invariants(tables));
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(refused, 100);
}

TEST(KvCache, WhatIsForgottenIsNotFoundAndFree) {
  KvCache cache(4, 2, KvCache::Sharing::kPrefixes);
  BlockTable a, b;
  cache.extend(a, 6);
  cache.publish(a, iota(6), 6);
  cache.release(a);
  EXPECT_EQ(cache.num_cached(), 3);
  cache.forget_all();
  EXPECT_EQ(cache.num_free(), 4);
  cache.check_invariants({});
  EXPECT_EQ(cache.attach(b, iota(7)), 0);
  EXPECT_TRUE(cache.extend(b, 8));
}

}  // namespace
}  // namespace headrace::runtime
