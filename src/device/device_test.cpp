#include <gtest/gtest.h>

#include "core/error.h"
#include "device/cpu/cpu_device.h"
#include "device/null/null_device.h"

namespace headrace {
namespace {

class AddOne : public CpuKernel {
 public:
  void run(Team& team, const Launch& launch) const override {
    const auto [begin, end] = team.share(launch.inputs[0].numel());
    for (int64_t i = begin; i < end; ++i) launch.outputs[0].as<float>()[i] = launch.inputs[0].as<float>()[i] + 1;
  }
  std::string description() const override { return "add_one"; }
};

TEST(CpuStream, RunsLaunchesInOrderWithABarrierBetween) {
  CpuDevice device({.num_threads = 2});
  const Buffer a = device.allocate(1000 * 4), b = device.allocate(1000 * 4);
  const Tensor x = Tensor::contiguous(a.data(), DType::kF32, {1000}), y = Tensor::contiguous(b.data(), DType::kF32, {1000});
  const AddOne kernel;
  std::vector<Launch> launches;
  for (int i = 0; i < 50; ++i) launches.push_back({&kernel, {i % 2 ? y : x}, {i % 2 ? x : y}});
  device.make_stream()->run(launches);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(x.as<float>()[i], 50);
}

// Between two barriers of its own, on one thread.
class Thrower : public CpuKernel {
 public:
  explicit Thrower(int rank) : rank_(rank) {}
  void run(Team& team, const Launch&) const override {
    team.barrier();
    if (team.rank() == rank_) throw Error(ErrorCode::kOutOfMemory, "no memory for " + std::to_string(rank_));
    team.barrier();
  }
  std::string description() const override { return "thrower"; }

 private:
  int rank_;
};

TEST(CpuStream, AKernelThatThrowsOnAnyThreadGivesItsErrorAndTheStreamGoesOn) {
  for (int threads : {1, 2, 3})
    for (int rank = 0; rank < threads; ++rank) {
      CpuDevice device({.num_threads = threads});
      const std::unique_ptr<Stream> stream = device.make_stream();
      HostTensor x(DType::kF32, {100});
      const AddOne add;
      const Thrower thrower(rank);
      for (int round = 1; round <= 10; ++round) {
        std::string message;
        try {
          stream->run(std::vector<Launch>{{&add, {x}, {x}}, {&thrower, {}, {}}, {&add, {x}, {x}}});
        } catch (const Error& e) {
          message = e.what();
        }
        EXPECT_EQ(message, "no memory for " + std::to_string(rank));
        stream->run(std::vector<Launch>{{&add, {x}, {x}}});
        for (int i = 0; i < 100; ++i) ASSERT_EQ(x.as<float>()[i], float(2 * round)) << "the launch after the failed one does not run";
      }
    }
}

TEST(CpuDevice, WeightsLieOneAfterTheOtherUntilTheLastOneGoes) {
  CpuDevice device({.num_threads = 1});
  std::shared_ptr<HugePageArena> arena = device.weight_memory();
  std::byte *a = arena->allocate(100), *b = device.weight_memory()->allocate(1), *large = arena->allocate(int64_t{40} << 20);
  EXPECT_EQ(b, a + 128);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % 64, 0u);
  for (int64_t i = 0; i < int64_t{40} << 20; i += 4096) ASSERT_EQ(large[i], std::byte{0});
  const std::weak_ptr<HugePageArena> watched = arena;
  arena.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_THROW(device.weight_memory()->allocate(int64_t{1} << 60), Error);
}

TEST(NullDevice, RemembersWhatItWasAskedToDo) {
  NullDevice device;
  const Buffer memory = device.allocate(16);
  const AddOne kernel;
  const std::unique_ptr<Stream> stream = device.make_stream();
  const float value = 3;
  stream->copy_to_device(memory.data(), &value, 4);
  stream->run(std::vector<Launch>{{&kernel, {}, {}}});
  float back = 0;
  stream->copy_to_host(&back, memory.data(), 4);
  ASSERT_EQ(device.calls().size(), 4u);
  EXPECT_EQ(device.calls()[2].description, "add_one");
  EXPECT_EQ(back, 3);
}

}  // namespace
}  // namespace headrace
