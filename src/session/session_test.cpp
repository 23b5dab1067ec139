#include "headrace/session.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "core/test_support.h"
#include "headrace/communicator.h"
#include "headrace/debug.h"
#include "headrace/functional.h"
#include "headrace/nn.h"
#include "ops/ops.h"
#include "ops/reduce/reduce.h"
#include "ops/views/views.h"
#include "weights/weight_source.h"

namespace headrace {
namespace {

// An MLP as a user would write it, with symbolic batch.
Graph mlp() {
  Graph graph(builtin_ops(), "mlp");
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("batch"), 4}});
  const nn::Scope root(graph);
  const Value hidden = relu(nn::linear(root / "fc1", x, 8, {.bias = true}));
  graph.mark_output(hidden, "hidden");
  graph.mark_output(softmax(nn::linear(root / "fc2", hidden, 3, {.bias = true}), -1), "probabilities");
  return graph;
}

std::map<std::string, HostTensor> mlp_weights() {
  std::map<std::string, HostTensor> weights;
  const auto fill = [&](const char* name, const Sizes& sizes) {
    HostTensor t(DType::kF32, sizes);
    for (int64_t i = 0; i < sizes.numel(); ++i) t.as<float>()[i] = float((i * 7) % 11 - 5) / 10;
    weights[name] = std::move(t);
  };
  fill("fc1.weight", {8, 4}), fill("fc1.bias", {8}), fill("fc2.weight", {3, 8}), fill("fc2.bias", {3});
  return weights;
}

TEST(Session, ReturnsMarkedInnerValuesAndShowsRunsToADebugger) {
  std::vector<std::string> seen;
  auto debugger = std::make_shared<Debugger>(DebugOptions{
      .on_run = [&](const RunValues& run) { seen.push_back(run.phase + " " + std::to_string(run.run) + " " + run.inputs.at(0).name); },
      .check = true});
  Session marked(mlp(), memory_weights(mlp_weights()),
                 {.num_threads = 2, .exact = true, .passes = {.marks = {"fc?"}}, .debugger = debugger});
  Session plain(mlp(), memory_weights(mlp_weights()), {.num_threads = 1, .exact = true});
  EXPECT_GT(marked.program().num_nodes(), plain.program().num_nodes()) << "what is returned is not fused away";
  const HostTensor x = HostTensor(DType::kF32, {2, 4});
  for (int i = 0; i < 8; ++i) x.as<float>()[i] = float(i % 5) - 2;
  auto a = marked.run({{"x", x}}), b = plain.run({{"x", x}});
  ASSERT_EQ(a.at("fc1").view().sizes, (Sizes{2, 8}));
  for (int i = 0; i < 16; ++i) EXPECT_NEAR(std::max(a["fc1"].as<float>()[i], 0.0f), b["hidden"].as<float>()[i], 1e-6) << "before relu";
  EXPECT_EQ(seen, (std::vector<std::string>{"run 0 x"}));
  for (const KernelCheck& check : debugger->checks()) EXPECT_TRUE(check.fits() && check.calls >= 1) << check.kernel;
}

TEST(Session, AnyNetworkRunsWithAnyBatch) {
  Session compiled(mlp(), memory_weights(mlp_weights()), {.num_threads = 2, .exact = true});
  Session plain(mlp(), memory_weights(mlp_weights()), {.num_threads = 1, .exact = true, .compile = false});
  for (int batch : {1, 3, 17}) {
    HostTensor x(DType::kF32, {batch, 4});
    for (int i = 0; i < batch * 4; ++i) x.as<float>()[i] = float(i % 5) - 2;
    auto a = compiled.run({{"x", x}}), b = plain.run({{"x", x}});
    ASSERT_EQ(a.at("probabilities").view().sizes, (Sizes{batch, 3}));
    for (int i = 0; i < batch * 3; ++i) ASSERT_NEAR(a["probabilities"].as<float>()[i], b["probabilities"].as<float>()[i], 1e-6);
    for (int r = 0; r < batch; ++r) {
      float sum = 0;
      for (int i = 0; i < 3; ++i) sum += a["probabilities"].as<float>()[r * 3 + i];
      ASSERT_NEAR(sum, 1, 1e-6);
    }
    ASSERT_EQ(a.at("hidden").view().sizes, (Sizes{batch, 8})) << "a marked inner value comes back too";
  }
  EXPECT_LT(compiled.program().num_nodes(), plain.program().num_nodes());
}

TEST(Session, AResultThatIsAViewComesOutInItsOwnOrder) {
  Graph graph(builtin_ops());
  const Value x = graph.input("x", {DType::kF32, {2, 3, 4}});
  graph.mark_output(permute(x, {2, 1, 0}), "turned");
  graph.mark_output(slice(x, 2, 1, 3), "cut");
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0f);
  const HostTensor input(DType::kF32, {2, 3, 4}, std::span<const float>(values));
  const std::map<std::string, HostTensor> results = Session(std::move(graph), nullptr).run({{"x", input}});

  const HostTensor &turned = results.at("turned"), &cut = results.at("cut");
  ASSERT_EQ(turned.view().sizes, (Sizes{4, 3, 2}));
  ASSERT_EQ(cut.view().sizes, (Sizes{2, 3, 2}));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) EXPECT_EQ(turned.as<float>()[(k * 3 + j) * 2 + i], float((i * 3 + j) * 4 + k));
      for (int k = 0; k < 2; ++k) EXPECT_EQ(cut.as<float>()[(i * 3 + j) * 2 + k], float((i * 3 + j) * 4 + k + 1));
    }
}

TEST(Session, AnOpOfOnesOwnRunsAsItsReferenceDoes) {
  const auto ops = std::make_shared<OpRegistry>();
  register_ops(*ops);
  ops->add({.name = "negate",
            .min_inputs = 1,
            .max_inputs = 1,
            .infer = [](const OpCall& call) { return std::vector<TensorType>{call.input(0)}; },
            .reference =
                [](const OpCall&, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
                  for (int64_t i = 0; i < inputs[0].numel(); ++i) outputs[0].as<float>()[i] = -inputs[0].as<float>()[i];
                }});
  Graph graph(ops);
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("n")}});
  graph.mark_output(relu(graph.emit("negate", {x})), "y");
  Session session(std::move(graph), nullptr, {.num_threads = 2});
  const std::vector<float> values = {-2, 0.5f, -1};
  const auto outputs = session.run({{"x", HostTensor(DType::kF32, {3}, std::span<const float>(values))}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(outputs.at("y").as<float>()[i], std::max(0.f, -values[size_t(i)]));
}

TEST(Session, ASizeMayComeFromAnInputThatNothingReads) {
  Graph graph(builtin_ops());
  graph.input("like", {DType::kF32, {Dim::symbol("n"), 3}});
  const Value x = graph.input("x", {DType::kF32, {1}});
  graph.mark_output(graph.emit("expand", Expand{{Dim::symbol("n")}}, {x}), "y");
  Session session(std::move(graph), nullptr);
  for (const int64_t n : {2, 5}) {
    const auto results = session.run({{"x", HostTensor(DType::kF32, {1})}, {"like", HostTensor(DType::kF32, {n, 3})}});
    EXPECT_EQ(results.at("y").view().sizes, Sizes{n});
  }
}

TEST(Session, ASliceThatASizeIsTooSmallForIsZeros) {
  Graph graph(builtin_ops());
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("n")}});
  graph.mark_output(slice(x, 0, 1, 3), "y");
  Session session(std::move(graph), nullptr);
  for (const int64_t n : {3, 2, 0, 9}) {
    HostTensor values(DType::kF32, {n});
    std::iota(values.as<float>(), values.as<float>() + n, 1.0f);
    const HostTensor y = session.run({{"x", values}}).at("y");
    ASSERT_EQ(y.view().sizes, Sizes{2});
    EXPECT_EQ(y.as<float>()[0], n < 3 ? 0 : 2);
    EXPECT_EQ(y.as<float>()[1], n < 3 ? 0 : 3);
  }
}

TEST(Session, TheLargestOfNoElementsIsZero) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kI32})  // three kernels
    for (const char* op : {"max", "min"}) {
      Graph graph(builtin_ops());
      const Value x = graph.input("x", {dtype, {3, Dim::symbol("n")}});
      graph.mark_output(cast(graph.emit(op, Reduce{.axes = {-1}, .keepdim = true}, {x}), DType::kF32), "y");
      Session session(std::move(graph), nullptr);
      const HostTensor y = session.run({{"x", HostTensor(dtype, {3, 0})}}).at("y");
      for (int i = 0; i < 3; ++i) EXPECT_EQ(y.as<float>()[i], 0) << op << " of " << name(dtype);
    }
}

TEST(Session, AWeightThatNoResultNeedsIsNoSurplus) {
  Graph graph = mlp();
  const Value unused = graph.parameter("unused", {DType::kF32, {4}});
  relu(unused);
  auto weights = mlp_weights();
  weights["unused"] = HostTensor(DType::kF32, {4});
  EXPECT_NO_THROW(Session(std::move(graph), memory_weights(weights)));
}

TEST(Session, EveryMissingAndMisshapenWeightIsListedInOneError) {
  auto weights = mlp_weights();
  weights.erase("fc1.bias");
  weights["fc2.weight"] = HostTensor(DType::kF32, {3, 9});
  const std::string message = test::error_of([&] { Session(mlp(), memory_weights(weights)); });
  EXPECT_NE(message.find("fc1.bias"), std::string::npos) << message;
  EXPECT_NE(message.find("fc2.weight"), std::string::npos) << message;
  EXPECT_THROW(Session(mlp(), nullptr), Error);
}

TEST(Session, RunsWithOtherWeightsAsOneThatBeganWithThem) {
  std::map<std::string, HostTensor> others = mlp_weights();
  for (auto& [name, tensor] : others)
    for (int64_t i = 0; i < tensor.view().numel(); ++i) tensor.as<float>()[i] = float((i * 5) % 13 - 6) / 9;
  Session session(mlp(), memory_weights(mlp_weights()), {.num_threads = 2}), other(mlp(), memory_weights(others), {.num_threads = 2});
  HostTensor x(DType::kF32, {3, 4});
  for (int i = 0; i < 12; ++i) x.as<float>()[i] = float(i) - 5;
  const auto run = [&](Session& s) {
    const HostTensor y = s.run({{"x", x}}).at("probabilities");
    return std::vector<float>(y.as<float>(), y.as<float>() + y.view().numel());
  };
  const std::vector<float> before = run(session);
  EXPECT_NE(test::error_of([&] { session.refit(memory_weights({})); }).find("fc2.bias: missing"), std::string::npos);
  EXPECT_EQ(run(session), before) << "the old weights stay";
  session.refit(memory_weights(others));
  EXPECT_EQ(run(session), run(other));
  EXPECT_NE(run(session), before);
}

// One of `ranks` ranks' half of a perceptron: y = all_reduce(relu(x W1') W2'), whose inner units the ranks share.
Graph part_of_mlp(int ranks, int64_t inner) {
  Graph graph(builtin_ops(), "part");
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("batch"), 4}});
  const Value h = relu(linear(x, graph.parameter("w1", {DType::kF32, {inner, 4}})));
  graph.mark_output(all_reduce(linear(h, graph.parameter("w2", {DType::kF32, {3, inner}})), ranks), "y");
  return graph;
}

HostTensor some_floats(const Sizes& sizes, int64_t from) {
  HostTensor t(DType::kF32, sizes);
  for (int64_t i = 0; i < sizes.numel(); ++i) t.as<float>()[i] = float(((from + i) * 7) % 11 - 5) / 10;
  return t;
}

// Runs body(rank, its communicator) on as many threads; the messages of what they threw.
template <typename Body>
std::vector<std::string> run_ranks(int ranks, Body body) {
  const auto ends = local_communicators(ranks);
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(rank, ends[size_t(rank)]);
      } catch (const Error& e) {
        errors[size_t(rank)] = e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  return errors;
}

TEST(Session, RanksThatShareALayerAddUpTheirParts) {
  constexpr int kRanks = 3;
  constexpr int64_t kInner = 2;
  // The whole: W1 (6, 4), W2 (3, 6); rank r has rows 2 r and 2 r + 1 of the first, and those columns of the second.
  const HostTensor w1 = some_floats({kRanks * kInner, 4}, 0), w2 = some_floats({3, kRanks * kInner}, 5);
  Session alone(part_of_mlp(1, kRanks * kInner), memory_weights({{"w1", w1}, {"w2", w2}}), {.num_threads = 1, .exact = true});
  const HostTensor x = some_floats({5, 4}, 3);
  const HostTensor expected = alone.run({{"x", x}}).at("y");
  const auto errors = run_ranks(kRanks, [&](int rank, std::shared_ptr<Communicator> end) {
    HostTensor own1(DType::kF32, {kInner, 4}), own2(DType::kF32, {3, kInner});
    std::copy_n(w1.as<float>() + rank * kInner * 4, kInner * 4, own1.as<float>());
    for (int64_t o = 0; o < 3; ++o) std::copy_n(w2.as<float>() + (o * kRanks + rank) * kInner, kInner, own2.as<float>() + o * kInner);
    Session session(part_of_mlp(kRanks, kInner), memory_weights({{"w1", own1}, {"w2", own2}}),
                    {.num_threads = 2, .exact = true, .communicator = end});
    for (int run = 0; run < 3; ++run) {
      const HostTensor y = session.run({{"x", x}}).at("y");
      for (int64_t i = 0; i < 15; ++i) EXPECT_NEAR(y.as<float>()[i], expected.as<float>()[i], 1e-6);
    }
  });
  for (const std::string& e : errors) EXPECT_EQ(e, "");
}

TEST(Session, WhenARankFailsTheOthersAreToldAndDoNotWait) {
  const auto errors = run_ranks(3, [&](int rank, std::shared_ptr<Communicator> end) {
    Session session(part_of_mlp(3, 2), memory_weights({{"w1", some_floats({2, 4}, 0)}, {"w2", some_floats({3, 2}, 0)}}),
                    {.num_threads = 1, .communicator = end});
    std::map<std::string, Tensor> inputs;
    const HostTensor x = some_floats({5, 4}, 0);
    if (rank != 1) inputs["x"] = x;
    session.run(inputs);
  });
  EXPECT_NE(errors[1].find("'x'"), std::string::npos) << errors[1];
  for (int rank : {0, 2}) EXPECT_EQ(errors[size_t(rank)], "rank 1 has failed: " + errors[1]);
}

TEST(Session, RanksWhoseSizesDifferAreToldBoth) {
  const auto errors = run_ranks(2, [&](int rank, std::shared_ptr<Communicator> end) {
    Session session(part_of_mlp(2, 2), memory_weights({{"w1", some_floats({2, 4}, 0)}, {"w2", some_floats({3, 2}, 0)}}),
                    {.num_threads = 1, .communicator = end});
    session.run({{"x", some_floats({rank == 0 ? 5 : 6, 4}, 0)}});
  });
  for (const std::string& e : errors)
    EXPECT_EQ(e, "ranks do not agree: rank 0 calls all_reduce sum f32[5, 3], rank 1 calls all_reduce sum f32[6, 3]");
}

TEST(Session, AProgramOfSeveralRanksWantsACommunicatorOfThatSize) {
  const auto weights = memory_weights({{"w1", some_floats({2, 4}, 0)}, {"w2", some_floats({3, 2}, 0)}});
  Session alone(part_of_mlp(2, 2), weights);
  EXPECT_NE(test::error_of([&] { alone.run({{"x", some_floats({1, 4}, 0)}}); }).find("SessionOptions::communicator"), std::string::npos);
  const auto ends = local_communicators(3);
  EXPECT_EQ(test::error_of([&] { Session(part_of_mlp(2, 2), weights, {.communicator = ends[0]}); }),
            "all_reduce: the program is one of 2 ranks, the communicator has 3");
}

TEST(Session, RanksInARowHandOnWhatTheyComputed) {
  const auto errors = run_ranks(3, [&](int rank, std::shared_ptr<Communicator> end) {
    Graph graph(builtin_ops());
    const Value x = rank == 0 ? graph.input("x", {DType::kF32, {2}}) : recv(graph, {DType::kF32, {2}}, rank - 1);
    const Value y = x * 2 + 1;
    if (rank < 2) send(y, rank + 1);
    else graph.mark_output(y, "y");
    Session session(std::move(graph), nullptr, {.num_threads = 1, .communicator = end});
    const HostTensor start(DType::kF32, {2});  // zeros
    const auto results = session.run(rank == 0 ? std::map<std::string, Tensor>{{"x", start}} : std::map<std::string, Tensor>{});
    if (rank < 2) return;
    EXPECT_EQ(results.at("y").as<float>()[1], 7) << "((0 * 2 + 1) * 2 + 1) * 2 + 1";
  });
  for (const std::string& e : errors) EXPECT_EQ(e, "");
}

}  // namespace
}  // namespace headrace
