// A weight matrix in the form that the kernels stream.
#pragma once

#include <memory>
#include <vector>

#include "core/arithmetic.h"
#include "core/thread_pool.h"
#include "cpu_linear/bf16_code.h"
#include "cpu_linear/panel.h"
#include "device/cpu/cpu_features.h"
#include "device/cpu/huge_page_arena.h"
#include "headrace/types.h"

namespace headrace {

class PackedMatrix {
 public:
  // Packs `weight` (n, k), contiguous rows, on all threads of the pool. Afterwards the source is no longer needed, except for a
  // block type with kExact, which is read where it lies. Throws Error(kUnsupported) for integer types.
  static PackedMatrix pack(const Tensor& weight, CpuIsa isa, Arithmetic arithmetic, std::shared_ptr<HugePageArena> arena, ThreadPool& pool);

  int64_t n() const { return n_; }
  int64_t k() const { return k_; }
  CpuIsa isa() const { return isa_; }
  PanelKind kind() const { return kind_; }
  int64_t num_panels() const { return (n_ + kPanelRows - 1) / kPanelRows; }
  int64_t stored_panel_bytes() const { return stored_panel_bytes_; }  // what one product reads of a panel
  int64_t bytes() const { return stored_panel_bytes() * num_panels(); }

  // Whether panels are stored in the form of kind().
  bool is_direct() const { return !is_coded_ && !is_source(); }
  bool is_coded() const { return is_coded_; }                                                     // bf16_code.h
  bool is_source() const { return source_.data != nullptr; }                                      // panels are made by `widen`
  const std::byte* panel(int64_t index) const { return panels_ + index * stored_panel_bytes(); }  // unless is_source()

  // k [begin, end) of a panel, of a source. begin: a multiple of 256.
  void widen(int64_t panel, int64_t begin, int64_t end, float* out) const;

 private:
  void pack_panel(const Tensor& weight, int64_t panel, std::byte* out) const;

  int64_t n_ = 0, k_ = 0, stored_panel_bytes_ = 0;
  CpuIsa isa_ = CpuIsa::kBaseline;
  PanelKind kind_ = PanelKind::kF32;
  std::byte* panels_ = nullptr;
  std::shared_ptr<HugePageArena> arena_;
  bool is_coded_ = false;
  Tensor source_;  // unless there are panels
};

}  // namespace headrace
