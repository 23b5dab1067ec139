#include "core/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "core/error.h"

namespace headrace {
namespace {

TEST(ThreadPool, EveryIndexIsVisitedOnceInEveryLoop) {
  for (int threads : {1, 2, 3, 8}) {  // more threads than cores must work too
    ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> seen(1000);
      pool.run([&](Team& team) {
        for (int loop = 0; loop < 20; ++loop) {
          team.for_each(1000, 7, [&](int64_t b, int64_t e) {
            for (int64_t i = b; i < e; ++i) seen[i].fetch_add(1, std::memory_order_relaxed);
          });
          if (loop % 3 == 0) team.barrier();
        }
        team.for_each(0, 7, [&](int64_t, int64_t) { ADD_FAILURE(); });
      });
      for (auto& s : seen) ASSERT_EQ(s.load(), 20);
    }
  }
}

TEST(ThreadPool, ABarrierOrdersWritesBeforeReads) {
  ThreadPool pool(3);
  std::vector<int> values(3);
  pool.run([&](Team& team) {
    for (int round = 1; round <= 200; ++round) {
      values[team.rank()] = round;
      team.barrier();
      if (std::accumulate(values.begin(), values.end(), 0) != 3 * round) ADD_FAILURE();
      team.barrier();
    }
  });
}

TEST(ThreadPool, BetweenABarriersHalvesAThreadGoesOnAlone) {
  ThreadPool pool(3);
  std::atomic<int> gone_on{0};
  std::vector<int> values(3);
  pool.run([&](Team& team) {
    for (int round = 1; round <= 200; ++round) {
      values[team.rank()] = round;
      if (team.rank() == 0)  // the last to arrive: the others do not wait for it
        while (gone_on.load() < 2 * round) std::this_thread::yield();
      const uint32_t arrival = team.arrive();
      if (team.rank() != 0) gone_on.fetch_add(1);
      team.wait_for_all(arrival);
      if (std::accumulate(values.begin(), values.end(), 0) != 3 * round) ADD_FAILURE();
      team.barrier();
    }
  });
}

TEST(ThreadPool, SharesCoverTheWholeAndDoNotOverlap) {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> seen(101);
  pool.run([&](Team& team) {
    const auto [begin, end] = team.share(101, 8);
    for (int64_t i = begin; i < end; ++i) ++seen[i];
  });
  for (auto& s : seen) EXPECT_EQ(s.load(), 1);
}

TEST(ThreadPool, WakesUpAfterBeingParked) {
  ThreadPool pool(2);
  std::atomic<int> count{0};
  for (int i = 0; i < 3; ++i) {
    pool.run([&](Team&) { ++count; });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(count, 6);
}

// Before, between and after barriers, while the others wait, work in a loop or throw too.
TEST(ThreadPool, AnExceptionOnAnyThreadComesOutAndThePoolGoesOn) {
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 20; ++round)
      for (int rank = 0; rank <= threads; ++rank)  // the last: all of them
        for (int at = 0; at < 3; ++at) {
          std::string message;
          try {
            pool.run([&](Team& team) {
              for (int i = 0; i < 3; ++i) {
                if (i == at && (rank == threads || team.rank() == rank)) throw std::runtime_error(std::to_string(i));
                team.for_each(100, 3, [](int64_t, int64_t) {});
                team.barrier();
              }
              ADD_FAILURE() << "passed a barrier to which not all came";
            });
          } catch (const std::runtime_error& e) {
            message = e.what();
          }
          ASSERT_EQ(message, std::to_string(at));
          std::vector<int> values(size_t(threads), 0);
          pool.run([&](Team& team) {
            values[size_t(team.rank())] = 1;
            team.barrier();
            if (std::accumulate(values.begin(), values.end(), 0) != threads) ADD_FAILURE();
          });
        }
  }
}

TEST(ThreadPool, MoreThreadsThanTheSystemGivesAreAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more address space than is left here";
#endif
  const auto make = [] {  // with room for some stacks
    const rlimit limit{size_t{256} << 20, size_t{256} << 20};
    ::setrlimit(RLIMIT_AS, &limit);
    try {
      ThreadPool pool(1000);
    } catch (const Error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      std::_Exit(1);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(make(), testing::ExitedWithCode(1), "1000 threads were wanted");
}

}  // namespace
}  // namespace headrace
