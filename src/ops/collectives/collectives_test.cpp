#include "ops/collectives/collectives.h"

#include <thread>

#include "core/test_support.h"
#include "device/cpu/cpu_device.h"
#include "ops/reference.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Collectives, SizesFollowFromTheNumberOfRanks) {
  EXPECT_EQ(inferred("all_reduce", AllReduce{.ranks = 4}, {"bf16[tokens, 8]"}), "bf16[tokens, 8]");
  EXPECT_EQ(inferred("all_gather", AllGather{.ranks = 4, .axis = -1}, {"f32[tokens, 8]"}), "f32[tokens, 32]");
  EXPECT_EQ(inferred("all_gather", AllGather{.ranks = 2, .axis = 0}, {"i32[tokens, 8]"}), "i32[2*tokens, 8]");
  EXPECT_EQ(inferred("reduce_scatter", ReduceScatter{.ranks = 4, .axis = 1}, {"f32[tokens, 8]"}), "f32[tokens, 2]");
  EXPECT_EQ(inferred("send", Send{.peer = 1}, {"f16[2]"}), "f16[2]");
  EXPECT_EQ(inferred("recv", Recv{.peer = 1, .dtype = DType::kI8, .shape = {Dim::symbol("tokens"), 3}}, {}), "i8[tokens, 3]");
}

TEST(Collectives, RefuseWhatDoesNotFitAndSayWhy) {
  EXPECT_THAT(rejection("reduce_scatter", ReduceScatter{.ranks = 3, .axis = 1}, {"f32[tokens, 8]"}),
              HasSubstr("does not divide into 3 ranks"));
  EXPECT_THAT(rejection("reduce_scatter", ReduceScatter{.ranks = 3}, {"f32[tokens, 8]"}), HasSubstr("tokens"));
  EXPECT_THAT(rejection("all_gather", AllGather{.ranks = 2, .axis = 2}, {"f32[tokens, 8]"}), HasSubstr("axis 2"));
  EXPECT_THAT(rejection("all_reduce", AllReduce{.ranks = 0}, {"f32[2]"}), HasSubstr("1 or more"));
  EXPECT_THAT(rejection("all_reduce", AllReduce{}, {"q8_0[32]"}), HasSubstr("cast them"));
  EXPECT_THAT(rejection("send", Send{.peer = -1}, {"f32[2]"}), HasSubstr("0 or more"));
}

TEST(Collectives, OneRankAloneCopiesAndMoreWantACommunicator) {
  const HostTensor x = floats({2}, {1, 2});
  EXPECT_THAT(reference_floats("all_reduce", AllReduce{}, {x}), ElementsAre(1, 2));
  EXPECT_THAT(reference_floats("all_gather", AllGather{}, {x}), ElementsAre(1, 2));
  EXPECT_THAT(reference_floats("reduce_scatter", ReduceScatter{}, {x}), ElementsAre(1, 2));
  const std::string message = test::error_of([&] { run_reference("all_reduce", AllReduce{.ranks = 4}, {x}); });
  EXPECT_THAT(message, HasSubstr("all_reduce: it is over 4 ranks, but this run is of one rank alone: give SessionOptions::communicator"));
  EXPECT_THAT(test::error_of([&] { run_reference("send", Send{.peer = 1}, {x}); }), HasSubstr("send: it is with rank 1"));
}

TEST(Collectives, AreNeverRemovedMergedOrComputedWhenAProgramIsLoaded) {
  Graph graph(builtin_ops());
  const Value w = graph.parameter("w", parse_type("f32[4]"));
  const Value y = graph.emit("all_reduce", AllReduce{.ranks = 2}, {w});
  EXPECT_FALSE(y.is_known_at_load());
  EXPECT_EQ(graph.remove_dead(), 0);
}

// Runs an op's kernel on each of `ranks` ranks; operand(rank) is what rank has. Returns the results, by rank.
std::vector<HostTensor> run_on_ranks(std::string_view op_name, const Attributes& attributes, int ranks,
                                     const std::function<HostTensor(int)>& operand) {
  const OpDef& op = *builtin_ops()->find(op_name);
  const auto ends = local_communicators(ranks);
  std::vector<HostTensor> results(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      CpuDevice device({.num_threads = 2});
      const HostTensor x = operand(rank);
      const std::vector<TensorType> inputs{type_of(x)};
      const OpCall call{op, attributes, inputs};
      const std::vector<TensorType> outputs = op.infer(call);
      const std::vector<Constant> constants(1);
      const KernelRequest request{call, outputs, constants, Arithmetic::kExact, device, ends[size_t(rank)]};
      const auto candidates = builtin_kernels()->candidates(op_name, DeviceKind::kCpu);
      ASSERT_EQ(candidates.size(), 1u);
      ASSERT_TRUE(candidates[0]->supports(request));
      const std::unique_ptr<Kernel> kernel = candidates[0]->make(request);
      HostTensor& y = results[size_t(rank)] = HostTensor(outputs[0].dtype, outputs[0].shape.sizes());
      const Launch launch{.kernel = kernel.get(), .inputs = {x}, .outputs = {y}};
      device.make_stream()->run({&launch, 1});
    });
  for (std::thread& t : threads) t.join();
  return results;
}

std::vector<float> values(const HostTensor& t) { return read_floats(t); }

TEST(Collectives, GatherAlongAnyAxisJoinsInTheOrderOfRanks) {
  const auto operand = [](int rank) {
    const float r = float(rank) * 10;
    return floats({2, 1, 2}, {r, r + 1, r + 2, r + 3});
  };
  for (const HostTensor& y : run_on_ranks("all_gather", AllGather{.ranks = 2, .axis = 0}, 2, operand))
    EXPECT_THAT(values(y), ElementsAre(0, 1, 2, 3, 10, 11, 12, 13));
  for (const HostTensor& y : run_on_ranks("all_gather", AllGather{.ranks = 2, .axis = 1}, 2, operand))
    EXPECT_THAT(values(y), ElementsAre(0, 1, 10, 11, 2, 3, 12, 13));
  for (const HostTensor& y : run_on_ranks("all_gather", AllGather{.ranks = 3, .axis = -1}, 3, operand))
    EXPECT_THAT(values(y), ElementsAre(0, 1, 10, 11, 20, 21, 2, 3, 12, 13, 22, 23));
}

TEST(Collectives, GatherTakesBackWhatReduceScatterCutsAlongAnyAxis) {
  for (int64_t axis : {0, 1, 2}) {
    const auto operand = [](int rank) { return random_tensor({4, 6, 2}, DType::kF32, uint32_t(rank)); };
    const std::vector<HostTensor> parts = run_on_ranks("reduce_scatter", ReduceScatter{.ranks = 2, .axis = axis}, 2, operand);
    const std::vector<HostTensor> whole =
        run_on_ranks("all_gather", AllGather{.ranks = 2, .axis = axis}, 2, [&](int rank) { return parts[size_t(rank)]; });
    const std::vector<HostTensor> reduced = run_on_ranks("all_reduce", AllReduce{.ranks = 2}, 2, operand);
    const std::vector<float> a = values(operand(0)), b = values(operand(1));
    for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(values(reduced[0])[i], a[i] + b[i]);
    for (int rank : {0, 1}) EXPECT_EQ(values(whole[size_t(rank)]), values(reduced[size_t(rank)])) << "axis " << axis;
  }
}

}  // namespace
}  // namespace headrace
