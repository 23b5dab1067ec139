// Kernels: implementations of ops on one kind of device, as rows of a table. Lowering asks each row whether it supports a node,
// and makes the one it chooses; what is made owns its packed weights.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/arithmetic.h"
#include "device/device.h"
#include "headrace/communicator.h"
#include "headrace/graph.h"

namespace headrace {

// An operand that is known before the program runs. The bytes live as long as `owner`; an empty owner: only during make.
struct Constant {
  Tensor tensor;  // data is null when the operand is not constant
  std::shared_ptr<const void> owner;
  // Lets memory go that holds what has been read so far; it can be read again. May be empty.
  std::function<void()> release_pages;
};

struct KernelRequest {
  const OpCall& call;  // op, attributes and operand types (symbolic)
  std::span<const TensorType> outputs;
  std::span<const Constant> constants;  // one for each operand
  Arithmetic arithmetic = Arithmetic::kFast;
  Device& device;
  std::shared_ptr<Communicator> communicator = nullptr;  // with the other ranks; null: this rank is alone

  bool is_constant(int operand) const { return constants[operand].tensor.data != nullptr; }
};

struct KernelDef {
  std::string op;
  std::string name;  // strategy and device: "rms_norm_rows/cpu"
  DeviceKind device = DeviceKind::kCpu;
  std::function<bool(const KernelRequest&)> supports;
  std::function<std::unique_ptr<Kernel>(const KernelRequest&)> make;
};

// For KernelDef: a T made from the request, and a kernel that supports every operand that the op accepts.
template <typename T>
std::unique_ptr<Kernel> make_as(const KernelRequest& request) {
  if constexpr (std::is_default_constructible_v<T>) return std::make_unique<T>();
  else return std::make_unique<T>(request);
}
inline bool supports_all(const KernelRequest&) { return true; }

// All kernels, in order of preference within an op and device. Filled by calls, then shared and unchanging.
class KernelRegistry {
 public:
  void add(KernelDef kernel) { kernels_.push_back(std::move(kernel)); }
  // Those for an op on a device, the most preferred first.
  std::vector<const KernelDef*> candidates(std::string_view op, DeviceKind device) const;

 private:
  std::vector<KernelDef> kernels_;
};

// Runs an op's reference on the CPU, one thread; every op has it. The last resort, and the oracle of tests.
std::unique_ptr<Kernel> make_reference_kernel(const KernelRequest& request);

}  // namespace headrace
