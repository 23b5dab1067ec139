#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "core/test_support.h"
#include "headrace/communicator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostTensor floats(const std::vector<float>& values) { return {DType::kF32, {int64_t(values.size())}, std::span<const float>(values)}; }
std::vector<float> values(const HostTensor& t) { return {t.as<float>(), t.as<float>() + t.view().numel()}; }

// Runs body(communicator) as each of `size` ranks; the messages of what they threw, by rank.
std::vector<std::string> run_ranks(int size, const std::function<void(Communicator&)>& body) {
  std::vector<std::shared_ptr<Communicator>> ends = local_communicators(size);
  std::vector<std::string> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank, end = std::move(ends[size_t(rank)])]() mutable {
      try {
        body(*end);
      } catch (const Error& e) {
        errors[size_t(rank)] = e.what();
      }
      end.reset();  // the rank goes
    });
  for (std::thread& t : threads) t.join();
  return errors;
}
void expect_no_errors(const std::vector<std::string>& errors) {
  for (size_t rank = 0; rank < errors.size(); ++rank) EXPECT_EQ(errors[rank], "") << "rank " << rank;
}

TEST(LocalCommunicator, EveryRankGetsTheSameReduction) {
  for (int size : {1, 2, 5}) {
    expect_no_errors(run_ranks(size, [&](Communicator& c) {
      const float r = float(c.rank()), n = float(c.size());
      const HostTensor x = floats({r, 1, -r}), y = floats({0, 0, 0});
      c.all_reduce(x, y, RankReduction::kSum);
      EXPECT_THAT(values(y), ElementsAre(n * (n - 1) / 2, n, -n * (n - 1) / 2));
      c.all_reduce(x, y, RankReduction::kMean);
      EXPECT_THAT(values(y), ElementsAre((n - 1) / 2, 1, -(n - 1) / 2));
      c.all_reduce(x, y, RankReduction::kMin);
      EXPECT_THAT(values(y), ElementsAre(0, 1, -(n - 1)));
      c.all_reduce(x, x, RankReduction::kMax);
      EXPECT_THAT(values(x), ElementsAre(n - 1, 1, 0)) << "in place";
    }));
  }
}

TEST(LocalCommunicator, ReductionsKeepTypesAndNaN) {
  expect_no_errors(run_ranks(3, [&](Communicator& c) {
    const int64_t large[] = {(int64_t{1} << 60) + c.rank()};
    const HostTensor x(DType::kI64, {1}, std::span<const int64_t>(large)), y(DType::kI64, {1});
    c.all_reduce(x, y, RankReduction::kMax);
    EXPECT_EQ(y.as<int64_t>()[0], (int64_t{1} << 60) + 2) << "exact";
    const HostTensor nan = floats({c.rank() == 1 ? NAN : 1.0f}), out = floats({0});
    for (RankReduction r : {RankReduction::kMax, RankReduction::kMin, RankReduction::kSum}) {
      c.all_reduce(nan, out, r);
      EXPECT_TRUE(std::isnan(out.as<float>()[0]));
    }
  }));
}

TEST(LocalCommunicator, GathersAndScattersByRank) {
  expect_no_errors(run_ranks(3, [&](Communicator& c) {
    const float r = float(c.rank());
    const HostTensor x = floats({r, 10 + r}), all = floats({0, 0, 0, 0, 0, 0});
    c.all_gather(x, all);
    EXPECT_THAT(values(all), ElementsAre(0, 10, 1, 11, 2, 12));
    const HostTensor wide = floats({r, 1, 2, 3, 4, 5}), part = floats({0, 0});
    c.reduce_scatter(wide, part, RankReduction::kSum);
    const std::vector<std::vector<float>> expected = {{3, 3}, {6, 9}, {12, 15}};
    EXPECT_EQ(values(part), expected[size_t(c.rank())]);
  }));
}

TEST(LocalCommunicator, WhatIsSentArrivesInOrder) {
  expect_no_errors(run_ranks(3, [&](Communicator& c) {
    const int next = (c.rank() + 1) % 3, previous = (c.rank() + 2) % 3;
    for (float i : {1.0f, 2.0f}) c.send(floats({i * 10 + float(c.rank())}), next);
    for (float i : {1.0f, 2.0f}) {
      const HostTensor y = floats({0});
      c.recv(y, previous);
      EXPECT_EQ(y.as<float>()[0], i * 10 + float(previous));
    }
  }));
}

TEST(LocalCommunicator, NobodyPassesABarrierBeforeAllHaveCome) {
  std::atomic<int> come{0};
  expect_no_errors(run_ranks(4, [&](Communicator& c) {
    for (int round = 1; round <= 50; ++round) {
      ++come;
      c.barrier();
      EXPECT_GE(come.load(), 4 * round);
      c.barrier();
    }
  }));
}

TEST(LocalCommunicator, RanksThatDoNotAgreeAreToldWhatBothWanted) {
  std::vector<std::string> errors = run_ranks(3, [](Communicator& c) {
    const HostTensor x = floats(std::vector<float>(c.rank() == 2 ? 5 : 4));
    c.all_reduce(x, x, RankReduction::kSum);
  });
  for (const std::string& e : errors)
    EXPECT_EQ(e, "ranks do not agree: rank 0 calls all_reduce sum f32[4], rank 2 calls all_reduce sum f32[5]");
  errors = run_ranks(2, [](Communicator& c) {
    const HostTensor x = floats({1}), y = floats({1, 2});
    if (c.rank() == 0) c.all_gather(x, y);
    else c.barrier();
  });
  for (const std::string& e : errors) EXPECT_THAT(e, HasSubstr("rank 0 calls all_gather f32[1], rank 1 calls barrier"));
  errors = run_ranks(2, [](Communicator& c) {
    if (c.rank() == 0) c.send(floats({1, 2}), 1);
    else c.recv(floats({1}), 0);
  });
  EXPECT_THAT(errors[1], HasSubstr("rank 0 sends f32[2], rank 1 wants to receive f32[1]"));
}

TEST(LocalCommunicator, ARankThatFailsOrGoesEndsTheWaitOfTheOthers) {
  std::vector<std::string> errors = run_ranks(3, [](Communicator& c) {
    if (c.rank() == 1) c.abort("out of memory");
    else c.barrier();
  });
  EXPECT_EQ(errors[0], "rank 1 has failed: out of memory");
  EXPECT_EQ(errors[2], "rank 1 has failed: out of memory");
  errors = run_ranks(2, [](Communicator& c) {
    if (c.rank() == 1) return;
    for (int attempt = 0; attempt < 3; ++attempt) EXPECT_EQ(test::error_of([&] { c.barrier(); }), "rank 1 has gone") << "each time";
  });
  errors = run_ranks(3, [](Communicator& c) {
    const HostTensor y = floats({0});
    if (c.rank() == 2) c.recv(y, 1);
    if (c.rank() == 0) c.all_reduce(y, y, RankReduction::kSum);
  });
  EXPECT_EQ(errors[0], "rank 1 has gone");
  EXPECT_EQ(errors[2], "rank 1 has gone");
}

TEST(LocalCommunicator, ALetterOutlivesItsSender) {
  expect_no_errors(run_ranks(2, [](Communicator& c) {
    if (c.rank() == 0) return c.send(floats({7}), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const HostTensor y = floats({0});
    c.recv(y, 0);
    EXPECT_EQ(y.as<float>()[0], 7);
  }));
}

TEST(LocalCommunicator, ImpossibleCallsAreErrors) {
  EXPECT_THAT(test::error_of([] { local_communicators(0); }), HasSubstr("0 ranks"));
  const auto ends = local_communicators(2);
  const HostTensor x = floats({1}), y = floats({1, 2, 3});
  EXPECT_THAT(test::error_of([&] { ends[0]->all_gather(x, y); }), HasSubstr("over 2 ranks, f32[1] does not become f32[3]"));
  EXPECT_THAT(test::error_of([&] { ends[0]->reduce_scatter(y, x, RankReduction::kSum); }), HasSubstr("f32[3] does not become f32[1]"));
  EXPECT_THAT(test::error_of([&] { ends[0]->all_reduce(x, y, RankReduction::kSum); }), HasSubstr("does not become"));
  EXPECT_THAT(test::error_of([&] { ends[1]->send(x, 2); }), HasSubstr("rank 1 of 2 cannot reach rank 2"));
  EXPECT_THAT(test::error_of([&] { ends[1]->recv(x, 1); }), HasSubstr("cannot reach rank 1"));
}

}  // namespace
}  // namespace headrace
