#include "measure/machine_peak.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/error.h"

namespace headrace {
namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// 16-byte vectors in eight chains: more than any core's memory delivers, on every machine.
uint64_t read_all(const std::byte* p, int64_t bytes) {
  using Vector = uint64_t __attribute__((vector_size(16)));
  Vector sums[8] = {};
  for (int64_t i = 0; i < bytes; i += 128) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) sums[j] ^= *reinterpret_cast<const Vector*>(p + i + 16 * j);
  }
  uint64_t sum = 0;
  for (const Vector& s : sums) sum ^= s[0] ^ s[1];
  return sum;
}

}  // namespace

double measure_read_gb_per_s(ThreadPool& pool, const ReadTest& test) {
  void* p = ::mmap(nullptr, size_t(test.bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) fail(ErrorCode::kOutOfMemory, "no memory for the read test");
  ::madvise(p, size_t(test.bytes), MADV_HUGEPAGE);
  std::memset(p, 1, size_t(test.bytes));
  double best = 1e9;
  std::atomic<uint64_t> sink = 0;  // what was read is used, as far as the compiler can tell
  for (int round = 0; round < test.rounds; ++round) {
    const double start = seconds();
    pool.run([&](Team& team) {
      const Team::Range r = team.share(test.bytes, 4096);
      sink.fetch_xor(read_all(static_cast<const std::byte*>(p) + r.begin, r.end - r.begin), std::memory_order_relaxed);
    });
    best = std::min(best, seconds() - start);
  }
  ::munmap(p, size_t(test.bytes));
  return double(test.bytes) / best / 1e9;
}

CopyTest::CopyTest(int64_t bytes) : from_(DType::kU8, {bytes}), to_(DType::kU8, {bytes}) {
  std::memset(from_.as<std::byte>(), 1, size_t(bytes));
  std::memset(to_.as<std::byte>(), 2, size_t(bytes));
}

double CopyTest::gb_per_s(ThreadPool& pool, int rounds) {
  const int64_t bytes = from_.view().bytes();
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = seconds();
    pool.run([&](Team& team) {
      const Team::Range r = team.share(bytes, 4096);
      std::memcpy(to_.as<std::byte>() + r.begin, from_.as<std::byte>() + r.begin, size_t(r.end - r.begin));
    });
    best = std::min(best, seconds() - start);
  }
  return 2 * double(bytes) / best / 1e9;
}

namespace {

// Twelve independent chains hide the latency of any multiply-add; the registers' values do not matter.
#define HEADRACE_CHAINS(instruction, register) \
  instruction register "0\n" instruction register "1\n" instruction register "2\n" instruction register "3\n" instruction register "4\n"           \
  instruction register "5\n" instruction register "6\n" instruction register "7\n" instruction register "8\n" instruction register "9\n"           \
  instruction register "10\n" instruction register "11\n"
#define HEADRACE_CLOBBERS "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13"

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void fma_256(int64_t n) {
  for (; n > 0; --n) asm volatile(HEADRACE_CHAINS("vfmadd231ps %%ymm12,%%ymm13,%%", "ymm")::: HEADRACE_CLOBBERS);
}
__attribute__((target("avx2,fma"))) void int8_256(int64_t n) {  // two products, their sum, its sum: three instructions
  for (; n > 0; --n)
    asm volatile(HEADRACE_CHAINS("vpmaddubsw %%ymm12,%%ymm13,%%", "ymm") HEADRACE_CHAINS("vpmaddwd %%ymm12,%%ymm13,%%", "ymm")
                     HEADRACE_CHAINS("vpaddd %%ymm12,%%ymm13,%%", "ymm")::
                         : HEADRACE_CLOBBERS);
}
__attribute__((target("avx512f"))) void fma_512(int64_t n) {
  for (; n > 0; --n) asm volatile(HEADRACE_CHAINS("vfmadd231ps %%zmm12,%%zmm13,%%", "zmm")::: HEADRACE_CLOBBERS);
}
__attribute__((target("avx512f,avx512vnni"))) void int8_512(int64_t n) {
  for (; n > 0; --n) asm volatile(HEADRACE_CHAINS("vpdpbusd %%zmm12,%%zmm13,%%", "zmm")::: HEADRACE_CLOBBERS);
}
__attribute__((target("avx512f,avx512bf16"))) void bf16_512(int64_t n) {
  for (; n > 0; --n) asm volatile(HEADRACE_CHAINS("vdpbf16ps %%zmm12,%%zmm13,%%", "zmm")::: HEADRACE_CLOBBERS);
}
#endif

}  // namespace

double measure_gmac_per_s(ThreadPool& pool, CpuIsa isa, DType weights) {
#if defined(__x86_64__)
  void (*loop)(int64_t) = nullptr;
  int macs = 0;
  const bool block = is_block(weights), wide = isa >= CpuIsa::kAvx512Vnni;
  if (wide && block) loop = int8_512, macs = 64;
  else if (wide && weights == DType::kBF16 && isa == CpuIsa::kAvx512Bf16) loop = bf16_512, macs = 32;
  else if (wide) loop = fma_512, macs = 16;
  else if (isa == CpuIsa::kAvx2 && block) loop = int8_256, macs = 32;
  else if (isa == CpuIsa::kAvx2) loop = fma_256, macs = 8;
  else return 0;
  constexpr int64_t kSteps = 5'000'000;
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const double start = seconds();
    pool.run([&](Team&) { loop(kSteps); });
    best = std::min(best, seconds() - start);
  }
  return double(kSteps) * 12 * macs * pool.size() / best / 1e9;
#else
  (void)pool, (void)isa, (void)weights;
  return 0;
#endif
}

MachinePeak measure_peak(ThreadPool& pool, CpuIsa isa, DType weights) {
  return {measure_read_gb_per_s(pool), measure_gmac_per_s(pool, isa, weights)};
}

}  // namespace headrace
