// Kernels: implementations of ops on one kind of device, as rows of a table. Lowering asks each row whether it supports a node,
// and makes the one it chooses; what is made owns its packed weights.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/arithmetic.h"
#include "device/device.h"
#include "headrace/graph.h"

namespace headrace {

// An operand that is known before the program runs. The bytes live as long as `owner`; an empty owner: only during make.
struct Constant {
  Tensor tensor;  // data is null when the operand is not constant
  std::shared_ptr<const void> owner;
};

struct KernelRequest {
  const OpCall& call;                            // op, attributes and operand types (symbolic)
  std::span<const TensorType> outputs;
  std::span<const Constant> constants;           // one for each operand
  Arithmetic arithmetic = Arithmetic::kFast;
  Device& device;

  bool is_constant(int operand) const { return constants[operand].tensor.data != nullptr; }
};

struct KernelDef {
  std::string op;
  std::string name;  // strategy and device: "rms_norm_rows/cpu"
  DeviceKind device = DeviceKind::kCpu;
  bool (*supports)(const KernelRequest&) = nullptr;
  std::unique_ptr<Kernel> (*make)(const KernelRequest&) = nullptr;
};

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
