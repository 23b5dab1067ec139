#include "ops/paged_attention/paged_attention.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "device/cpu/cpu_device.h"
#include "ops/kv_write/kv_write.h"
#include "ops/reference.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kTypes = {"f32[tokens, 64]", "f16[num_blocks, 2, 2, block_tokens, 16]", "i32[sequences+1]", "i32[sequences]",
                                         "i32[sequences, max_blocks]"};
const Attention kPlain{.heads = 4, .kv_heads = 2, .head_dim = 16};

TEST(PagedAttention, HasTheTypeOfQ) { EXPECT_EQ(inferred("paged_attention", kPlain, kTypes), kTypes[0]); }

TEST(PagedAttention, RefusesWhatCannotBe) {
  const auto with = [](size_t operand, const std::string& type) {
    std::vector<std::string> types = kTypes;
    types[operand] = type;
    return rejection("paged_attention", kPlain, types);
  };
  EXPECT_THAT(with(0, "f32[tokens, 32]"), HasSubstr("q is wanted"));
  EXPECT_THAT(with(1, "f32[num_blocks, 2, 4, block_tokens, 16]"), HasSubstr("kv is wanted"));
  EXPECT_THAT(with(1, "q8_0[num_blocks, 2, 2, block_tokens, 16]"), HasSubstr("kv is wanted"));
  EXPECT_THAT(with(2, "i32[sequences]"), HasSubstr("sequence_offsets"));
  EXPECT_THAT(with(3, "f32[sequences]"), HasSubstr("i32"));
  EXPECT_THAT(with(4, "i32[others, max_blocks]"), HasSubstr("block_tables"));
  Attention all = kPlain;
  all.causal = false;
  EXPECT_THAT(rejection("paged_attention", all, kTypes), HasSubstr("causal"));
}

// A sequence of `length` tokens, the last `num_new` of them new. Its vectors follow from the seed alone: a longer one begins alike.
struct Sequence {
  uint32_t seed;
  int64_t length, num_new;
};

HostTensor vectors(const Sequence& s, int which, int64_t row, float scale = 2) {
  return random_tensor({s.length, row}, DType::kF32, s.seed * 3 + uint32_t(which), scale);
}

// The operands of a step with these sequences: a cache full of NaN but for their tokens, in blocks in random order.
std::vector<TestOperand> step(const Attention& a, DType kv_type, const std::vector<Sequence>& sequences, int64_t block_tokens,
                              float scale = 2) {
  std::vector<int64_t> offsets = {0}, lengths, tables;
  int64_t max_blocks = 1, num_blocks = 2;
  for (const Sequence& s : sequences) {
    const int64_t blocks = (s.length + block_tokens - 1) / block_tokens;
    max_blocks = std::max(max_blocks, blocks + 1), num_blocks += blocks;
    offsets.push_back(offsets.back() + s.num_new), lengths.push_back(s.length);
  }
  std::vector<int64_t> order(static_cast<size_t>(num_blocks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));

  const int64_t q_row = a.heads * a.head_dim, kv_row = a.kv_heads * a.head_dim;
  HostTensor q(DType::kF32, {offsets.back(), q_row}), kv(kv_type, {num_blocks, 2, a.kv_heads, block_tokens, a.head_dim});
  std::memset(kv.as<std::byte>(), 0xff, size_t(kv.view().bytes()));
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& s = sequences[i];
    const size_t first = tables.size();
    for (int64_t b = 0; b < max_blocks; ++b) {
      const bool used = b * block_tokens < s.length;
      tables.push_back(used ? order.back() : -1);
      if (used) order.pop_back();
    }
    std::vector<int64_t> slots;
    for (int64_t p = 0; p < s.length; ++p) slots.push_back(tables[first + size_t(p / block_tokens)] * block_tokens + p % block_tokens);
    kv = run_reference("kv_write", {}, {kv, vectors(s, 1, kv_row, scale), vectors(s, 2, kv_row), integers({s.length}, slots)})[0];
    const HostTensor all = vectors(s, 0, q_row, scale);
    std::copy_n(all.as<float>() + (s.length - s.num_new) * q_row, s.num_new * q_row, q.as<float>() + offsets[i] * q_row);
  }
  const int64_t count = int64_t(sequences.size());
  return {q, kv, integers({count + 1}, offsets), integers({count}, lengths), integers({count, max_blocks}, tables)};
}

TEST(PagedAttention, IsCausalAttentionOverAScatteredCache) {
  const Attention a{.heads = 6, .kv_heads = 2, .head_dim = 8, .window = 9, .softcap = 4};
  const std::vector<Sequence> sequences = {{1, 20, 20}, {2, 5, 5}, {3, 33, 33}};
  const auto packed = [&](int which, int64_t row) {
    HostTensor all(DType::kF32, {58, row});
    float* to = all.as<float>();
    for (const Sequence& s : sequences) to = std::copy_n(vectors(s, which, row).as<float>(), s.length * row, to);
    return all;
  };
  const HostTensor expected =
      run_reference("attention", a, {packed(0, 48), packed(1, 16), packed(2, 16), integers({4}, {0, 20, 25, 58})})[0];
  expect_equal(run_reference("paged_attention", a, step(a, DType::kF32, sequences, 4))[0], expected, {}, "paged_attention");
}

const Check kCheck{.relative = 1e-5, .absolute = 1e-5};

TEST(PagedAttention, KernelsMatchTheReferenceForAllHeads) {
  for (DType kv : {DType::kF32, DType::kF16, DType::kBF16})
    for (int head_dim : {12, 16, 20, 64, 80, 96, 128, 256}) {
      const Attention a{.heads = 3, .kv_heads = 1, .head_dim = head_dim};
      expect_kernels_match_reference("paged_attention", a, step(a, kv, {{1, 7, 1}, {2, 19, 19}, {3, 131, 2}}, 16), kCheck);
    }
  for (int group : {1, 2, 3, 7, 8, 20, 100}) {
    const Attention a{.heads = 2 * group, .kv_heads = 2, .head_dim = 20};
    expect_kernels_match_reference("paged_attention", a, step(a, DType::kF16, {{1, 300, 1}, {2, 5, 5}, {3, 17, 16}, {4, 1, 1}}, 5), kCheck);
  }
}

TEST(PagedAttention, KernelsMatchTheReferenceOverManyChunks) {
  for (int window : {0, 1, 7, 128, 250})
    for (float softcap : {0.0f, 2.0f})
      for (int64_t block_tokens : {1, 16, 100}) {
        const Attention a{.heads = 4, .kv_heads = 2, .head_dim = 16, .scale = 0.5f, .window = window, .softcap = softcap};
        expect_kernels_match_reference("paged_attention", a,
                                       step(a, DType::kF32, {{1, 700, 1}, {2, 260, 20}, {3, 129, 129}, {4, 385, 1}}, block_tokens), kCheck);
      }
}

// Where pairs of bfloat16 are multiplied, query and weights have 8 bits.
TEST(PagedAttention, FastKernelsOverABf16CacheErrAsBf16Does) {
  const auto expect_close = [](const Attention& a) {
    expect_kernels_match_reference("paged_attention", a, step(a, DType::kBF16, {{1, 7, 1}, {2, 19, 19}, {3, 131, 2}, {4, 300, 45}}, 16, 1),
                                   {.relative = 2e-2, .absolute = 2e-2, .arithmetic = Arithmetic::kFast});
  };
  for (int head_dim : {2, 12, 16, 20, 64, 80, 96, 128, 256}) expect_close({.heads = 3, .kv_heads = 1, .head_dim = head_dim});
  for (int group : {1, 2, 7, 20}) expect_close({.heads = 2 * group, .kv_heads = 2, .head_dim = 32});
  for (int window : {1, 7, 150}) expect_close({.heads = 3, .kv_heads = 1, .head_dim = 64, .window = window, .softcap = 3});
}

std::vector<float> run(const Attention& a, const std::vector<TestOperand>& operands, Arithmetic arithmetic, CpuIsa isa, int threads) {
  const OpDef& op = *builtin_ops()->find("paged_attention");
  const Attributes attributes = a;
  CpuDevice device({.num_threads = threads, .isa = isa});
  std::vector<TensorType> types;
  Launch launch;
  for (const TestOperand& o : operands) types.push_back(type_of(o.tensor)), launch.inputs.push_back(o.tensor);
  const HostTensor y(DType::kF32, operands[0].tensor.view().sizes);
  launch.outputs = {y};
  const OpCall call{op, attributes, types};
  const std::vector<Constant> constants(operands.size());
  const std::unique_ptr<Kernel> kernel =
      builtin_kernels()->candidates(op.name, DeviceKind::kCpu).at(0)->make({call, op.infer(call), constants, arithmetic, device});
  const Buffer workspace = device.allocate(kernel->workspace_bytes(launch.inputs, launch.outputs));
  launch.kernel = kernel.get();
  launch.workspace = workspace.data();
  device.make_stream()->run(std::span(&launch, 1));
  return read_floats(y);
}

TEST(PagedAttention, OffsetsLengthsAndTablesThatLeadOutOfTheCacheAreErrors) {
  const Attention a{.heads = 2, .kv_heads = 1, .head_dim = 16};
  const auto error = [&](size_t operand, int64_t element, int32_t value, int window = 0) {
    std::vector<TestOperand> in = step(a, DType::kF32, {{1, 20, 3}, {2, 9, 9}}, 4);
    in[operand].tensor.as<int32_t>()[element] = value;
    Attention windowed = a;
    windowed.window = window;
    try {
      run(windowed, in, Arithmetic::kFast, CpuIsa::kBaseline, 2);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(error(4, 5, -1), "") << "behind the end of the sequence";
  EXPECT_EQ(error(4, 0, -1, 8), "") << "before its window";
  EXPECT_THAT(error(4, 4, -1), HasSubstr("block 4 of sequence 0"));
  EXPECT_THAT(error(4, 0, -1, 18), HasSubstr("block 0 of sequence 0"));
  EXPECT_THAT(error(4, 0, 1000), HasSubstr("number 1000"));
  EXPECT_THAT(error(3, 0, 2), HasSubstr("length of 2"));
  EXPECT_THAT(error(3, 0, 1000), HasSubstr("length of 1000"));
  EXPECT_THAT(error(2, 0, -1), HasSubstr("from -1"));
  EXPECT_THAT(error(2, 1, 100), HasSubstr("a length of 20"));
  EXPECT_THAT(error(2, 1, -2), HasSubstr("fall from 0 to -2"));
  EXPECT_THAT(error(2, 2, 100), HasSubstr("there are 12 tokens"));
}

TEST(PagedAttention, WhatIsNotFiniteReachesOnlyWhoSeesIt) {
  const Attention a{.heads = 3, .kv_heads = 1, .head_dim = 16, .window = 9};
  for (DType kv : {DType::kF32, DType::kBF16})
    for (int which : {0, 1})  // a key, a value
      for (int64_t bad : {40, 41}) {
        std::vector<TestOperand> in = step(a, kv, {{1, 60, 60}}, 64);
        const int64_t element = (which * 64 + bad) * 16 + 3, block = in[4].tensor.as<int32_t>()[0] * 2 * 64 * 16;
        if (kv == DType::kF32) in[1].tensor.as<float>()[block + element] = NAN;
        else in[1].tensor.as<uint16_t>()[block + element] = 0x7fc0;
        for (CpuIsa isa : runnable_cpu_isas()) {
          const std::vector<float> y = run(a, in, Arithmetic::kFast, isa, 1);
          for (int64_t token = 0; token < 60; ++token)
            for (int head = 0; head < 3; ++head)
              EXPECT_EQ(std::isnan(y[size_t((token * 3 + head) * 16 + 3)]), token >= bad && token < bad + 9)
                  << name(isa) << ", token " << token << ", part " << which << ", bad " << bad;
        }
      }
}

TEST(PagedAttention, ALaunchMayHaveNoTokens) {
  const Attention a{.heads = 2, .kv_heads = 1, .head_dim = 8};
  expect_kernels_match_reference("paged_attention", a, step(a, DType::kF32, {{1, 9, 0}, {2, 4, 0}}, 4), kCheck);
  expect_kernels_match_reference("paged_attention", a, step(a, DType::kF32, {}, 4), kCheck);
}

// Bits, so that -0 is not 0 and NaN is itself.
std::vector<uint32_t> bits(const std::vector<float>& values, size_t first, size_t count) {
  std::vector<uint32_t> all(count);
  std::memcpy(all.data(), values.data() + first, count * 4);
  return all;
}

// What a step computes for the new tokens of its first sequence, however the step is made up.
TEST(PagedAttention, ATokenGetsTheSameBitsInEveryBatchChunkAndTeam) {
  for (CpuIsa isa : runnable_cpu_isas())
    for (const auto& [kv, arithmetic] :
         {std::pair(DType::kF32, Arithmetic::kExact), {DType::kBF16, Arithmetic::kExact}, {DType::kBF16, Arithmetic::kFast}})
      for (const Attention& a :
           {Attention{.heads = 6, .kv_heads = 2, .head_dim = 24},
            Attention{.heads = 3, .kv_heads = 1, .head_dim = 64, .window = 150, .softcap = 5},
            Attention{.heads = 8, .kv_heads = 1, .head_dim = 16}, Attention{.heads = 2, .kv_heads = 2, .head_dim = 40}}) {
        const size_t row = size_t(a.heads * a.head_dim);
        const std::vector<float> whole = run(a, step(a, kv, {{1, 650, 650}}, 16), arithmetic, isa, 1);
        const auto expect_same = [&, kv = kv, arithmetic = arithmetic](const std::vector<Sequence>& sequences, int64_t block_tokens) {
          const Sequence& s = sequences[0];
          const std::vector<TestOperand> operands = step(a, kv, sequences, block_tokens);
          for (int threads : {1, 2, 3})
            EXPECT_EQ(bits(run(a, operands, arithmetic, isa, threads), 0, size_t(s.num_new) * row),
                      bits(whole, size_t(s.length - s.num_new) * row, size_t(s.num_new) * row))
                << name(isa) << ", " << threads << " threads, tokens " << s.length - s.num_new << " to " << s.length << " next to "
                << sequences.size() - 1;
        };
        expect_same({{1, 650, 650}}, 16);
        expect_same({{1, 300, 300}, {2, 40, 40}}, 16);                // a prompt in pieces: next to another,
        expect_same({{1, 450, 150}}, 32);                             // alone,
        expect_same({{1, 457, 7}, {3, 5, 1}, {4, 9, 9}}, 1);          // a few tokens only
        for (int64_t length : {1, 2, 63, 128, 129, 257, 384, 650}) {  // one by one
          expect_same({{1, length, 1}}, 16);
          expect_same({{1, length, 1}, {2, 500, 1}, {3, 3, 1}, {4, 77, 1}, {5, 130, 1}, {6, 64, 1}, {7, 12, 12}, {8, 300, 1}}, 16);
        }
      }
}

}  // namespace
}  // namespace headrace
