// Softmax of f32 along the last axis: rows shared by the threads.
#include "ops/for_isa.h"
#include "ops/softmax/softmax.h"
#include "ops/strided_loop.h"

namespace headrace {
using SoftmaxRow = void (*)(const float* x, float* out, int64_t n);
}

#define HEADRACE_FOR_EACH_ISA "ops/softmax/softmax.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) {
  const TensorType& x = request.call.input(0);
  const int64_t axis = request.call.as<Softmax>().axis;
  return x.dtype == DType::kF32 && (axis == -1 || axis == x.shape.rank() - 1);
}

class SoftmaxRows : public CpuKernel {
 public:
  explicit SoftmaxRows(const KernelRequest& request)
      : op_(request.call.op.name), isa_(cpu_isa(request)),
        row_(for_isa(isa_, baseline::softmax_function, avx2::softmax_function, avx512vnni::softmax_function)(op_ == "log_softmax")) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor& x = launch.inputs[0];
    const Rows rows(x);
    const auto [begin, end] = team.share(rows.length() == 0 ? 0 : rows.count());
    for (int64_t row = begin; row < end; ++row) {
      float* out = launch.outputs[0].as<float>() + row * rows.length();
      row_(dense(x.as<float>() + rows.offset(row), rows.step(), rows.length(), out), out, rows.length());
    }
  }
  std::string description() const override { return op_ + "/rows " + std::string(name(isa_)); }

 private:
  std::string op_;
  CpuIsa isa_;
  SoftmaxRow row_;
};

}  // namespace

void register_softmax_cpu(KernelRegistry& kernels) {
  for (const char* op : {"softmax", "log_softmax"})
    kernels.add({.op = op, .name = "rows/cpu", .supports = supports, .make = make_as<SoftmaxRows>});
}

}  // namespace headrace
