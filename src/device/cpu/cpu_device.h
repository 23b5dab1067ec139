// The CPU as a device: a team of threads that goes through a list of launches together, one barrier after each.
#pragma once

#include "core/thread_pool.h"
#include "device/cpu/cpu_features.h"
#include "device/cpu/huge_page_arena.h"
#include "device/device.h"

namespace headrace {

// A kernel that a team of threads runs together: every thread calls run. What it throws on one thread ends the whole run.
class CpuKernel : public Kernel {
 public:
  virtual void run(Team& team, const Launch& launch) const = 0;
};

struct CpuOptions {
  int num_threads = 0;        // 0: one per core
  std::optional<CpuIsa> isa;  // nothing: best_cpu_isa()
};

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const CpuOptions& options = {});
  DeviceKind kind() const override { return DeviceKind::kCpu; }
  std::string name() const override;
  std::string fingerprint() const override;
  Buffer allocate(size_t bytes) override;
  std::unique_ptr<Stream> make_stream() override;

  CpuIsa isa() const { return isa_; }
  // Shared by the device's streams: one region at a time.
  ThreadPool& pool() { return pool_; }
  // Where kernels keep their weights: one arena for all that are alive at the same time, so that they lie in the order in which they
  // were made, which is mostly that in which they run.
  std::shared_ptr<HugePageArena> weight_memory();

 private:
  CpuIsa isa_;
  ThreadPool pool_;
  std::mutex weights_mutex_;
  std::weak_ptr<HugePageArena> weights_;
};

}  // namespace headrace
