// A weight matrix in the form that the kernels stream.
#pragma once

#include <memory>
#include <vector>

#include "core/arithmetic.h"
#include "core/thread_pool.h"
#include "cpu_linear/panel.h"
#include "device/cpu/cpu_features.h"
#include "headrace/types.h"

namespace headrace {

// Memory for packed matrices: zeroed, 64-byte aligned, in huge pages where the system has them. Lives as long as the last matrix.
class PackArena {
 public:
  PackArena() = default;
  ~PackArena();
  PackArena(const PackArena&) = delete;
  PackArena& operator=(const PackArena&) = delete;
  // Throws Error(kOutOfMemory).
  std::byte* allocate(int64_t bytes);
  int64_t allocated_bytes() const { return allocated_; }

 private:
  struct Chunk {
    void* mapping;
    int64_t mapped, used, begin;
  };
  std::vector<Chunk> chunks_;
  int64_t allocated_ = 0;
};

class PackedMatrix {
 public:
  // Packs `weight` (n, k), contiguous rows, on all threads of the pool. Afterwards the source is no longer needed, except for a
  // block type with kExact, which is read where it lies. Throws Error(kUnsupported) for integer types.
  static PackedMatrix pack(const Tensor& weight, CpuIsa isa, Arithmetic arithmetic, std::shared_ptr<PackArena> arena, ThreadPool& pool);

  int64_t n() const { return n_; }
  int64_t k() const { return k_; }
  CpuIsa isa() const { return isa_; }
  PanelKind kind() const { return kind_; }
  int64_t bytes() const;  // streamed by one product: of the panels, or of the source
  int64_t num_panels() const { return (n_ + kPanelRows - 1) / kPanelRows; }
  int64_t blocks_per_panel() const { return (k_ + format_of(kind_).block_k - 1) / format_of(kind_).block_k; }
  int64_t panel_bytes() const { return blocks_per_panel() * format_of(kind_).block_bytes; }

  // Null when the source is read where it lies.
  const std::byte* panel(int64_t index) const { return panels_ ? panels_ + index * panel_bytes() : nullptr; }
  // Widens k [begin, end) of a panel into kF32 form: out[end - begin][16]. Only for a matrix without panels.
  void widen(int64_t panel, int64_t begin, int64_t end, float* out) const;

 private:
  int64_t n_ = 0, k_ = 0;
  CpuIsa isa_ = CpuIsa::kBaseline;
  PanelKind kind_ = PanelKind::kF32;
  const std::byte* panels_ = nullptr;
  std::shared_ptr<PackArena> arena_;
  Tensor source_;  // with kExact
};

}  // namespace headrace
