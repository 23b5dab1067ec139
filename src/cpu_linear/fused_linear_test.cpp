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
          const PackedMatrix m = PackedMatrix::pack(w, c.isa, c.arithmetic, std::make_shared<PackArena>(), pool);
          for (int64_t rows : {1, 2, 3, 5, 8, 16, 33}) {
            const std::vector<float> y = product(pool, m, x, rows);
            for (size_t i = 0; i < y.size(); ++i)
              ASSERT_NEAR(y[i], r.y[i], bound(t, c.isa, c.arithmetic, r, i))
                  << name(t) << " n " << n << " k " << k << " rows " << rows << " " << name(c.isa) << " exact " << (c.arithmetic == Arithmetic::kExact)
                  << " at " << i;
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
      const PackedMatrix m = PackedMatrix::pack(w, c.isa, c.arithmetic, std::make_shared<PackArena>(), two);
      const std::vector<float> all = product(two, m, x, kRows);
      for (int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        for (int64_t rows : {1, 2, 4, 7, 13, 24}) {
          const int64_t first = kRows - rows;  // other neighbours, another place in the tiles
          const std::vector<float> some(x.begin() + first * k, x.end());
          const std::vector<float> y = product(pool, m, some, rows);
          ASSERT_EQ(0, std::memcmp(y.data(), all.data() + first * n, y.size() * sizeof(float)))
              << name(t) << " rows " << rows << " threads " << threads << " " << name(c.isa) << " exact " << (c.arithmetic == Arithmetic::kExact);
        }
      }
    }
  }
}

}  // namespace
}  // namespace headrace
