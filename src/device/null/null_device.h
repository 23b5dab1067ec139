// A device that does nothing and remembers what it was asked to do: for tests of host-side logic meant for GPUs.
#pragma once

#include "device/device.h"

namespace headrace {

class NullDevice : public Device {
 public:
  struct Call {
    enum class Kind { kAllocate, kLaunch, kCopyToDevice, kCopyToHost, kRecord, kWait, kSynchronize } kind;
    std::string description;  // of a launch: its kernel's
    size_t bytes = 0;
  };

  DeviceKind kind() const override { return DeviceKind::kNull; }
  std::string name() const override { return "null"; }
  std::string fingerprint() const override { return "null"; }
  Buffer allocate(size_t bytes) override;
  std::unique_ptr<Stream> make_stream() override;

  const std::vector<Call>& calls() const { return calls_; }
  void clear() { calls_.clear(); }

 private:
  std::vector<Call> calls_;
};

}  // namespace headrace
