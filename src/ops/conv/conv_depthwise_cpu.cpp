// Convolution of f32 in which each group has one channel, and columns follow each other: nothing is packed, threads share the rows of the
// result. Wins because a window is a few elements, which matrices would only make more.
#include "ops/conv/conv.h"
#include "ops/dense_rows.h"
#include "ops/for_isa.h"
#include "ops/strided_loop.h"

namespace headrace {

struct DepthwiseRow {
  const float* x;  // (height, width) of the channel
  int64_t x_row, height, width;
  Windows windows;
  const float* weight;  // of the output: (window's height, width)
  float bias;
  int64_t top;  // the row that the window's first row is over
  float* y;     // (places)
  int64_t places;
};

}  // namespace headrace

#define HEADRACE_FOR_EACH_ISA "ops/conv/conv_depthwise.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) {
  const OpCall& call = request.call;
  return call.input(0).dtype == DType::kF32 && request.is_constant(1) && call.input(1).shape[1] == Dim(1) &&
         conv_windows(call)[1].stride == 1 && (call.num_inputs() == 2 || request.is_constant(2));
}

std::vector<float> widened(const Tensor& t) {
  const Rows rows(t);
  std::vector<float> values(size_t(t.numel()));
  for (int64_t row = 0; row < rows.count(); ++row)
    read_run(t, rows.offset(row), rows.step(), values.data() + row * rows.length(), rows.length());
  return values;
}

class DepthwiseRows : public CpuKernel {
 public:
  explicit DepthwiseRows(const KernelRequest& request)
      : op_(request.call.op.name), isa_(cpu_isa(request)), windows_(conv_windows(request.call)),
        weight_(widened(request.constants[1].tensor)),
        bias_(request.call.num_inputs() == 3 ? widened(request.constants[2].tensor) : std::vector<float>()) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor x = with_height(launch.inputs[0]), y = with_height(launch.outputs[0]);
    const auto row_function = for_isa(isa_, baseline::depthwise_row, avx2::depthwise_row, avx512vnni::depthwise_row);
    const int64_t outputs = y.sizes[1], height = y.sizes[2], places = y.sizes[3], of_channel = x.sizes[1] ? outputs / x.sizes[1] : 0;
    const auto [begin, end] = team.share(y.numel() == 0 ? 0 : y.sizes[0] * outputs * height);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t image = row / (outputs * height), output = row / height % outputs;
      row_function({.x = x.as<float>() + image * x.strides[0] + output / of_channel * x.strides[1],
                    .x_row = x.strides[2],
                    .height = x.sizes[2],
                    .width = x.sizes[3],
                    .windows = windows_,
                    .weight = weight_.data() + output * windows_[0].size * windows_[1].size,
                    .bias = bias_.empty() ? 0 : bias_[size_t(output)],
                    .top = windows_[0].begin(row % height),
                    .y = y.as<float>() + row * places,
                    .places = places});
    }
  }
  bool reads_constants() const override { return false; }
  int64_t held_bytes() const override { return int64_t((weight_.size() + bias_.size()) * sizeof(float)); }
  std::string description() const override { return op_ + "/depthwise rows " + std::string(name(isa_)); }

 private:
  std::string op_;
  CpuIsa isa_;
  Windows windows_;
  std::vector<float> weight_, bias_;
};

std::unique_ptr<Kernel> make(const KernelRequest& request) {
  return with_dense_rows(std::make_unique<DepthwiseRows>(request), {.dense = {0}});
}

}  // namespace

void register_conv_depthwise_cpu(KernelRegistry& kernels) {
  for (const char* op : {"conv1d", "conv2d"}) kernels.add({.op = op, .name = "depthwise-rows/cpu", .supports = supports, .make = make});
}

}  // namespace headrace
