#include "device/cpu/huge_page_arena.h"

#include <sys/mman.h>

#include <algorithm>

#include "core/error.h"

namespace headrace {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kChunkBytes = int64_t{32} << 20;  // at least; what is never touched costs address space only

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

HugePageArena::~HugePageArena() {
  for (const Chunk& c : chunks_) ::munmap(c.mapping, size_t(c.mapped));
}

std::byte* HugePageArena::allocate(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes = round_up(bytes, 64);
  if (chunks_.empty() || chunks_.back().used + bytes > chunks_.back().mapped) {
    const int64_t mapped = round_up(std::max(bytes, kChunkBytes), kHugePage) + kHugePage;
    void* p = ::mmap(nullptr, size_t(mapped), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) fail(ErrorCode::kOutOfMemory, "no memory for {} bytes of weights", bytes);
    const int64_t begin = round_up(int64_t(reinterpret_cast<uintptr_t>(p)), kHugePage) - int64_t(reinterpret_cast<uintptr_t>(p));
    ::madvise(static_cast<std::byte*>(p) + begin, size_t(mapped - begin), MADV_HUGEPAGE);  // failing costs speed only
    chunks_.push_back({p, mapped, begin});
  }
  Chunk& chunk = chunks_.back();
  std::byte* result = static_cast<std::byte*>(chunk.mapping) + chunk.used;
  chunk.used += bytes;
  return result;
}

}  // namespace headrace
