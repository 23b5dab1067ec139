#include "device/null/null_device.h"

#include <cstdlib>
#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

using Call = NullDevice::Call;

class NullEvent : public Event {
 public:
  explicit NullEvent(std::vector<Call>& calls) : calls_(calls) {}
  void wait() override { calls_.push_back({Call::Kind::kWait, "", 0}); }

 private:
  std::vector<Call>& calls_;
};

// Copies are made, so that inputs and outputs can be looked at; launches are only written down.
class NullStream : public Stream {
 public:
  explicit NullStream(std::vector<Call>& calls) : calls_(calls) {}
  void run(std::span<const Launch> launches) override {
    for (const Launch& l : launches) calls_.push_back({Call::Kind::kLaunch, l.kernel->description(), 0});
  }
  void copy_to_device(void* destination, const void* source, size_t bytes) override {
    calls_.push_back({Call::Kind::kCopyToDevice, "", bytes});
    std::memcpy(destination, source, bytes);
  }
  void copy_to_host(void* destination, const void* source, size_t bytes) override {
    calls_.push_back({Call::Kind::kCopyToHost, "", bytes});
    std::memcpy(destination, source, bytes);
  }
  std::unique_ptr<Event> record() override {
    calls_.push_back({Call::Kind::kRecord, "", 0});
    return std::make_unique<NullEvent>(calls_);
  }
  void synchronize() override { calls_.push_back({Call::Kind::kSynchronize, "", 0}); }

 private:
  std::vector<Call>& calls_;
};

}  // namespace

Buffer NullDevice::allocate(size_t bytes) {
  calls_.push_back({Call::Kind::kAllocate, "", bytes});
  if (bytes == 0) return Buffer();
  void* data = std::calloc(1, bytes);
  if (!data) fail(ErrorCode::kOutOfMemory, "no memory for a buffer of {} bytes on the null device", bytes);
  return Buffer(data, bytes, [](void* p, size_t) { std::free(p); });
}

std::unique_ptr<Stream> NullDevice::make_stream() { return std::make_unique<NullStream>(calls_); }

}  // namespace headrace
