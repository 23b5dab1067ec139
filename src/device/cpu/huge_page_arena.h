// Memory for weights, which are read from end to end for every token.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace headrace {

// Hands out zeroed memory, 64-byte aligned, piece after piece in the order of the calls, in huge pages where the system has them.
// All of it goes at once, with the arena. Calls may come from several threads.
class HugePageArena {
 public:
  HugePageArena() = default;
  ~HugePageArena();
  HugePageArena(const HugePageArena&) = delete;
  HugePageArena& operator=(const HugePageArena&) = delete;
  // Throws Error(kOutOfMemory).
  std::byte* allocate(int64_t bytes);

 private:
  struct Chunk {
    void* mapping;
    int64_t mapped, used;  // bytes; used: from the mapping's begin
  };
  std::mutex mutex_;
  std::vector<Chunk> chunks_;
};

}  // namespace headrace
