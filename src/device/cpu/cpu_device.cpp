#include "device/cpu/cpu_device.h"

#include <sys/mman.h>

#include <cstring>

#include "core/error.h"

namespace headrace {

std::string_view name(DeviceKind kind) {
  constexpr std::string_view kNames[] = {"cpu", "cuda", "null"};
  return kNames[int(kind)];
}

namespace {

class CpuEvent : public Event {
 public:
  void wait() override {}  // a CPU stream is always done
};

class CpuStream : public Stream {
 public:
  explicit CpuStream(ThreadPool& pool) : pool_(pool) {}

  void run(std::span<const Launch> launches) override {
    pool_.run([&](Team& team) {
      for (const Launch& launch : launches) {
        static_cast<const CpuKernel*>(launch.kernel)->run(team, launch);
        team.barrier();
      }
    });
  }
  // In one region as well: thread 0 looks between two barriers, so that times hold no start of a region.
  void run(std::span<const Launch> launches, LaunchObserver& observer) override {
    pool_.run([&](Team& team) {
      for (size_t i = 0; i < launches.size(); ++i) {
        if (team.rank() == 0) observer.before(i, launches[i]);
        team.barrier();
        static_cast<const CpuKernel*>(launches[i].kernel)->run(team, launches[i]);
        team.barrier();
        if (team.rank() == 0) observer.after(i, launches[i]);
      }
    });
  }
  void copy_to_device(void* destination, const void* source, size_t bytes) override { std::memcpy(destination, source, bytes); }
  void copy_to_host(void* destination, const void* source, size_t bytes) override { std::memcpy(destination, source, bytes); }
  std::unique_ptr<Event> record() override { return std::make_unique<CpuEvent>(); }
  void synchronize() override {}

 private:
  ThreadPool& pool_;
};

}  // namespace

CpuDevice::CpuDevice(const CpuOptions& options) : isa_(options.isa ? *options.isa : best_cpu_isa()), pool_(options.num_threads) {}

std::string CpuDevice::name() const { return fmt::format("cpu ({}, {} threads)", headrace::name(isa_), pool_.size()); }
std::string CpuDevice::fingerprint() const { return fmt::format("cpu-{}-{}", headrace::name(isa_), pool_.size()); }

Buffer CpuDevice::allocate(size_t bytes) {
  if (bytes == 0) return Buffer();
  // Straight from the system: zeroed, page-aligned, and pages that are never touched cost nothing.
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) fail(ErrorCode::kOutOfMemory, "no memory for a buffer of {} bytes on the CPU", bytes);
  return Buffer(data, bytes, [](void* p, size_t size) { munmap(p, size); });
}

std::shared_ptr<HugePageArena> CpuDevice::weight_memory() {
  const std::lock_guard lock(weights_mutex_);
  std::shared_ptr<HugePageArena> arena = weights_.lock();
  if (!arena) weights_ = arena = std::make_shared<HugePageArena>();
  return arena;
}

std::unique_ptr<Stream> CpuDevice::make_stream() { return std::make_unique<CpuStream>(pool_); }

}  // namespace headrace
