// Where programs run. A device gives memory and streams; a stream runs launches, in order, in the way that suits the device
// (a CPU: one parallel region with barriers; a GPU: launches on a CUDA stream).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/types.h"

namespace headrace {

enum class DeviceKind { kCpu, kCuda, kNull };
std::string_view name(DeviceKind kind);

struct Launch;

// One node of a program, made ready for one device: weights packed, tactic chosen. What it can do beyond being kept is known to
// the device's streams (CpuKernel in device/cpu/cpu_device.h).
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Scratch memory for operands of these sizes.
  virtual size_t workspace_bytes(std::span<const Tensor> /*inputs*/, std::span<const Tensor> /*outputs*/) const { return 0; }
  // Whether run looks at operands that were known when the kernel was made. A kernel that has packed its weights says no.
  virtual bool reads_constants() const { return true; }
  // What one run reads of constants that the kernel holds itself, packed weights above all.
  virtual int64_t held_bytes() const { return 0; }
  // What this run reads and writes of states (a KV cache), of which it may touch only a part.
  virtual int64_t state_bytes(const Launch& /*launch*/) const { return 0; }
  // For people: which implementation this is, "linear/q8_0 avx512vnni".
  virtual std::string description() const = 0;
};

struct Launch {
  const Kernel* kernel = nullptr;
  std::vector<Tensor> inputs, outputs;  // in device memory
  std::byte* workspace = nullptr;
};

// Device memory with one owner.
class Buffer {
 public:
  Buffer() = default;
  Buffer(void* data, size_t size, void (*release)(void*, size_t)) : data_(data), size_(size), release_(release) {}
  ~Buffer() {
    if (data_) release_(data_, size_);
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), release_(other.release_) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_), std::swap(release_, other.release_);
    return *this;
  }
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
  void (*release_)(void*, size_t) = nullptr;
};

// A point in a stream's work that others can wait for.
class Event {
 public:
  virtual ~Event() = default;
  virtual void wait() = 0;  // blocks the host until everything before the event is done
};

// Looks on while launches run. Called by one thread between two launches: all before is done, nothing behind has begun. What it throws
// comes out as what a kernel throws does.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual void before(size_t index, const Launch& launch) = 0;
  virtual void after(size_t index, const Launch& launch) = 0;
};

// Work in order. Not thread-safe: one thread submits.
class Stream {
 public:
  virtual ~Stream() = default;
  // When a kernel fails, the launches after it do not run and its exception comes out, here or in synchronize; the stream goes on.
  virtual void run(std::span<const Launch> launches) = 0;
  // The same with somebody looking on, who gets to see every launch by itself.
  virtual void run(std::span<const Launch> launches, LaunchObserver& observer) {
    for (size_t i = 0; i < launches.size(); ++i) {
      observer.before(i, launches[i]);
      run(launches.subspan(i, 1));
      synchronize();
      observer.after(i, launches[i]);
    }
  }
  virtual void copy_to_device(void* destination, const void* source, size_t bytes) = 0;
  virtual void copy_to_host(void* destination, const void* source, size_t bytes) = 0;
  virtual std::unique_ptr<Event> record() = 0;
  virtual void synchronize() = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  virtual std::string name() const = 0;         // for people
  virtual std::string fingerprint() const = 0;  // tactics measured under one fingerprint hold for it
  virtual Buffer allocate(size_t bytes) = 0;    // 64-byte aligned; throws Error(kOutOfMemory) that says how much was wanted
  virtual std::unique_ptr<Stream> make_stream() = 0;
};

}  // namespace headrace
