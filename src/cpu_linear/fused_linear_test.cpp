#include "cpu_linear/fused_linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "core/blocks.h"
#include "core/float16.h"

namespace headrace {
namespace {

constexpr DType kAllTypes[] = {DType::kF32,  DType::kF16,  DType::kBF16, DType::kQ8_0, DType::kQ4_0, DType::kQ4_1, DType::kQ5_0,
                               DType::kQ5_1, DType::kQ2_K, DType::kQ3_K, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K, DType::kIQ4_NL};

std::vector<float> random_floats(int64_t count, float spread, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(generator);
  return values;
}

bool is_k_type(DType t) { return info(t).block_elements == 256; }

// Where the half-precision scales of a K block lie.
std::vector<int> scale_offsets(DType t) {
  switch (t) {
    case DType::kQ2_K: return {80, 82};
    case DType::kQ3_K: return {108};
    case DType::kQ4_K:
    case DType::kQ5_K: return {0, 2};
    default: return {208};
  }
}

// A random matrix; of a K type random bits with sensible scales.
HostTensor random_matrix(DType t, int64_t n, int64_t k, uint32_t seed) {
  HostTensor m(t, {n, k});
  if (!is_k_type(t)) {
    const std::vector<float> values = random_floats(n * k, 0.5f, seed);
    from_float(t, values.data(), m.as<std::byte>(), n * k);
    return m;
  }
  std::mt19937 generator(seed);
  uint8_t* bytes = m.as<uint8_t>();
  for (int64_t i = 0; i < m.view().bytes(); ++i) bytes[i] = uint8_t(generator());
  for (int64_t b = 0; b < n * k / 256; ++b)
    for (int at : scale_offsets(t)) {
      const uint16_t h = float_to_half(0.001f + 0.0001f * float(generator() % 16));
      std::memcpy(bytes + b * info(t).block_bytes + at, &h, 2);
    }
  return m;
}

// The product in double precision, and what an error is measured against: sum |w x|, and what quantizing x may add.
struct Reference {
  std::vector<double> y, magnitude, quantization;
};

Reference reference(const HostTensor& w, const std::vector<float>& x, int64_t rows) {
  const int64_t n = w.view().sizes[0], k = w.view().sizes[1];
  std::vector<float> wide(static_cast<size_t>(n * k));
  to_float(w.view().dtype, w.as<std::byte>(), wide.data(), n * k);
  Reference r;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < n; ++col) {
      double y = 0, magnitude = 0, quantization = 0;
      for (int64_t begin = 0; begin < k; begin += 32) {
        double top = 0, weights = 0;
        for (int64_t i = begin; i < std::min(k, begin + 32); ++i) {
          const double a = x[size_t(row * k + i)], b = wide[size_t(col * k + i)];
          y += a * b;
          magnitude += std::fabs(a * b);
          top = std::max(top, std::fabs(a));
          weights += std::fabs(b);
        }
        quantization += top / 254 * weights;
      }
      r.y.push_back(y);
      r.magnitude.push_back(magnitude);
      r.quantization.push_back(quantization);
    }
  return r;
}

double bound(DType t, CpuIsa isa, Arithmetic arithmetic, const Reference& r, size_t i) {
  const double sum = 1e-6 * r.magnitude[i] + 1e-6;
  if (arithmetic == Arithmetic::kExact) return sum;
  if (t == DType::kBF16) return isa == CpuIsa::kAvx512Bf16 ? r.magnitude[i] / 256 : sum;
  if (!is_block(t)) return sum;
  // K types' scales are products, rounded to half; minima cancel against codes, so the magnitude does not bound them.
  return sum + r.quantization[i] * 1.01 + (is_k_type(t) ? r.magnitude[i] / 512 + 0.02 : 0);
}

std::vector<float> run(ThreadPool& pool, const LinearSpec& spec, LinearRows rows) {
  verify(spec);
  std::vector<float> y(static_cast<size_t>(rows.rows * spec.n()), -1.0f);
  const int64_t bytes = workspace_bytes(spec, rows.rows, pool.size());
  const HostTensor workspace(DType::kU8, {bytes});
  rows.y = y.data();
  rows.y_stride = spec.n();
  pool.run([&](Team& team) { fused_linear(team, spec, rows, workspace.as<std::byte>()); });
  return y;
}

std::vector<float> product(ThreadPool& pool, const PackedMatrix& m, const std::vector<float>& x, int64_t rows) {
  return run(pool, {.weights = {&m}}, {.x = x.data(), .x_stride = m.k(), .rows = rows});
}

struct Case {
  CpuIsa isa;
  Arithmetic arithmetic;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (CpuIsa isa : runnable_cpu_isas())
    for (Arithmetic a : {Arithmetic::kFast, Arithmetic::kExact}) all.push_back({isa, a});
  return all;
}

std::vector<int64_t> depths(DType t) {
  if (is_k_type(t)) return {256, 768};
  if (is_block(t)) return {32, 64, 576};
  return {1, 31, 32, 33, 64, 576};
}

TEST(FusedLinear, EveryTypeOnEveryInstructionSetMatchesTheReference) {
  ThreadPool pool(2);
  for (DType t : kAllTypes)
    for (int64_t k : depths(t))
      for (int64_t n : {1, 15, 16, 17, 100}) {
        constexpr int64_t kRows = 33;
        const HostTensor w = random_matrix(t, n, k, uint32_t(n * k));
        const std::vector<float> x = random_floats(kRows * k, 1, 7);
        const Reference r = reference(w, x, kRows);
        for (const Case& c : cases()) {
          const PackedMatrix m = PackedMatrix::pack(w, c.isa, c.arithmetic, std::make_shared<HugePageArena>(), pool);
          for (int64_t rows : {1, 2, 3, 5, 8, 16, 33}) {
            const std::vector<float> y = product(pool, m, x, rows);
            for (size_t i = 0; i < y.size(); ++i)
              ASSERT_NEAR(y[i], r.y[i], bound(t, c.isa, c.arithmetic, r, i))
                  << name(t) << " n " << n << " k " << k << " rows " << rows << " " << name(c.isa) << " exact "
                  << (c.arithmetic == Arithmetic::kExact) << " at " << i;
          }
        }
      }
}

TEST(FusedLinear, ARowDependsOnNeitherItsNeighboursNorTheThreads) {
  for (DType t : kAllTypes) {
    const int64_t k = is_k_type(t) ? 512 : 608, n = 200, kRows = 40;
    const HostTensor w = random_matrix(t, n, k, 3);
    const std::vector<float> x = random_floats(kRows * k, 1, 8);
    for (const Case& c : cases()) {
      ThreadPool two(2);
      const PackedMatrix m = PackedMatrix::pack(w, c.isa, c.arithmetic, std::make_shared<HugePageArena>(), two);
      const std::vector<float> all = product(two, m, x, kRows);
      for (int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        for (int64_t rows : {1, 2, 4, 7, 13, 24}) {
          const int64_t first = kRows - rows;  // other neighbours, another place in the tiles
          const std::vector<float> some(x.begin() + first * k, x.end());
          const std::vector<float> y = product(pool, m, some, rows);
          ASSERT_EQ(0, std::memcmp(y.data(), all.data() + first * n, y.size() * sizeof(float)))
              << name(t) << " rows " << rows << " threads " << threads << " " << name(c.isa) << " exact "
              << (c.arithmetic == Arithmetic::kExact);
        }
      }
    }
  }
}

// What fused_linear means, one step at a time in double precision, from plain products.
TEST(FusedLinear, NormBiasActivationGateAndResidualMeanWhatTheySay) {
  constexpr int64_t kN = 37, kK = 64, kRows = 9;
  ThreadPool pool(2);
  const HostTensor gate = random_matrix(DType::kF32, kN, kK, 1), up = random_matrix(DType::kBF16, kN, kK, 2);
  const std::vector<float> x = random_floats(kRows * kK, 2, 3), norm_weight = random_floats(kK, 1, 4), norm_bias = random_floats(kK, 1, 5);
  const std::vector<float> gate_bias = random_floats(kN, 1, 6), up_bias = random_floats(kN, 1, 7),
                           residual = random_floats(kRows * kN, 1, 8);
  const auto act = [](double v, LinearActivation a) {
    switch (a) {
      case LinearActivation::kSilu: return v / (1 + std::exp(-v));
      case LinearActivation::kGeluTanh: return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
      case LinearActivation::kGeluErf: return 0.5 * v * (1 + std::erf(v / std::sqrt(2)));
      case LinearActivation::kRelu: return v > 0 ? v : 0;
      default: return v;
    }
  };
  for (NormKind norm : {NormKind::kNone, NormKind::kRms, NormKind::kLayer}) {
    std::vector<float> normalized = x;
    for (int64_t r = 0; r < kRows && norm != NormKind::kNone; ++r) {
      double mean = 0, squares = 0;
      for (int64_t i = 0; i < kK; ++i) mean += norm == NormKind::kLayer ? double(x[size_t(r * kK + i)]) / kK : 0;
      for (int64_t i = 0; i < kK; ++i) squares += std::pow(x[size_t(r * kK + i)] - mean, 2) / kK;
      for (int64_t i = 0; i < kK; ++i)
        normalized[size_t(r * kK + i)] = float((x[size_t(r * kK + i)] - mean) / std::sqrt(squares + 0.25) * norm_weight[size_t(i)] +
                                               (norm == NormKind::kLayer ? norm_bias[size_t(i)] : 0));
    }
    const Reference a = reference(gate, normalized, kRows), b = reference(up, normalized, kRows);
    for (CpuIsa isa : runnable_cpu_isas()) {
      const PackedMatrix packed_gate = PackedMatrix::pack(gate, isa, Arithmetic::kExact, std::make_shared<HugePageArena>(), pool);
      const PackedMatrix packed_up = PackedMatrix::pack(up, isa, Arithmetic::kExact, std::make_shared<HugePageArena>(), pool);
      const LinearNorm linear_norm{norm, norm_weight.data(), norm == NormKind::kLayer ? norm_bias.data() : nullptr, 0.25f};
      for (LinearActivation activation : {LinearActivation::kNone, LinearActivation::kSilu, LinearActivation::kGeluTanh,
                                          LinearActivation::kGeluErf, LinearActivation::kRelu})
        for (int64_t rows : {1, 9}) {
          const LinearRows io{.x = x.data(), .x_stride = kK, .rows = rows, .residual = residual.data(), .residual_stride = kN};
          const std::vector<const PackedMatrix*> both = {&packed_gate, &packed_up};
          const std::vector<float> gated = run(pool,
                                               {.weights = both,
                                                .biases = {gate_bias.data(), up_bias.data()},
                                                .combine = Combine::kGated,
                                                .activation = activation,
                                                .norm = linear_norm},
                                               io);
          const LinearRows wide{.x = x.data(), .x_stride = kK, .rows = rows};
          const std::vector<float> merged =
              run(pool, {.weights = both, .biases = {nullptr, up_bias.data()}, .activation = activation, .norm = linear_norm}, wide);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < kN; ++c) {
              const size_t i = size_t(r * kN + c);
              const double g = a.y[i], u = b.y[i];
              const double wanted = act(g + gate_bias[size_t(c)], activation) * (u + up_bias[size_t(c)]) + residual[i];
              ASSERT_NEAR(gated[i], wanted, 3e-5 * (1 + std::fabs(g)) * (1 + std::fabs(u)))
                  << name(isa) << " activation " << int(activation);
              ASSERT_NEAR(merged[size_t(r * 2 * kN + c)], act(g, activation), 3e-5 * (1 + std::fabs(g)));
              ASSERT_NEAR(merged[size_t(r * 2 * kN + kN + c)], act(u + up_bias[size_t(c)], activation), 3e-5 * (1 + std::fabs(u)));
            }
        }
    }
  }
}

TEST(FusedLinear, MatricesOfDifferentTypesShareACall) {
  constexpr int64_t kK = 256, kRows = 21;
  ThreadPool pool(2);
  const std::vector<float> x = random_floats(kRows * kK, 1, 3);
  for (CpuIsa isa : runnable_cpu_isas()) {
    std::vector<PackedMatrix> packed;
    std::vector<HostTensor> sources;
    for (DType t : {DType::kQ4_K, DType::kBF16, DType::kQ6_K, DType::kF32}) {
      sources.push_back(random_matrix(t, 33, kK, uint32_t(t)));
      packed.push_back(PackedMatrix::pack(sources.back(), isa, Arithmetic::kFast, std::make_shared<HugePageArena>(), pool));
    }
    LinearSpec all;
    for (const PackedMatrix& m : packed) all.weights.push_back(&m);
    const std::vector<float> y = run(pool, all, {.x = x.data(), .x_stride = kK, .rows = kRows});
    for (size_t i = 0; i < packed.size(); ++i) {
      const std::vector<float> alone = product(pool, packed[i], x, kRows);
      for (int64_t r = 0; r < kRows; ++r)
        ASSERT_EQ(0, std::memcmp(&alone[size_t(r * 33)], &y[size_t(r) * 132 + i * 33], 33 * 4)) << name(isa) << " matrix " << i;
    }
  }
}

TEST(FusedLinear, ARowThatIsNotFiniteShowsInItsOwnResultsOnly) {
  ThreadPool pool(1);
  for (DType t : kAllTypes)
    for (float bad : {INFINITY, -INFINITY, NAN})
      for (CpuIsa isa : runnable_cpu_isas()) {
        const HostTensor w = random_matrix(t, 20, 256, 5);
        std::vector<float> x = random_floats(3 * 256, 1, 6);
        x[256 + 100] = bad;
        const PackedMatrix m = PackedMatrix::pack(w, isa, Arithmetic::kFast, std::make_shared<HugePageArena>(), pool);
        const std::vector<float> y = product(pool, m, x, 3);
        int finite[3] = {};
        for (size_t i = 0; i < y.size(); ++i) finite[i / 20] += std::isfinite(y[i]);
        EXPECT_EQ(finite[0], 20) << name(t) << " " << name(isa);
        EXPECT_EQ(finite[1], 0) << name(t) << " " << name(isa) << " " << bad;
        EXPECT_EQ(finite[2], 20) << name(t) << " " << name(isa);
      }
}

TEST(FusedLinear, NoRowsIsNoWork) {
  ThreadPool pool(2);
  const PackedMatrix m =
      PackedMatrix::pack(random_matrix(DType::kF32, 3, 5, 1), best_cpu_isa(), Arithmetic::kFast, std::make_shared<HugePageArena>(), pool);
  EXPECT_TRUE(product(pool, m, {}, 0).empty());
}

TEST(FusedLinear, SpecsThatCannotWorkAreErrors) {
  ThreadPool pool(1);
  const auto pack = [&](int64_t n, int64_t k) {
    return PackedMatrix::pack(random_matrix(DType::kF32, n, k, 1), CpuIsa::kBaseline, Arithmetic::kFast, std::make_shared<HugePageArena>(),
                              pool);
  };
  const PackedMatrix a = pack(4, 8), other_k = pack(4, 9), other_n = pack(5, 8);
  const float bias[4] = {};
  EXPECT_THROW(verify({}), Error);
  EXPECT_THROW(verify({.weights = {&a, &other_k}}), Error);
  EXPECT_THROW(verify({.weights = {&a, &other_n}, .combine = Combine::kGated}), Error);
  EXPECT_THROW(verify({.weights = {&a}, .combine = Combine::kGated}), Error);
  EXPECT_THROW(verify({.weights = {&a, &a}, .biases = {bias}}), Error);
  EXPECT_THROW(verify({.weights = {&a}, .norm = {.kind = NormKind::kRms}}), Error);
  EXPECT_NO_THROW(verify({.weights = {&a, &other_n}}));
  EXPECT_THROW(
      PackedMatrix::pack(HostTensor(DType::kI32, {4, 4}), CpuIsa::kBaseline, Arithmetic::kFast, std::make_shared<HugePageArena>(), pool),
      Error);
}

}  // namespace
}  // namespace headrace
