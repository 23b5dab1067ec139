// Convolution of f32 of any strides: threads share panels of a few places and some outputs of every image and group.
#include <algorithm>

#include "ops/conv/conv.h"
#include "ops/conv/conv_panel.h"
#include "ops/for_isa.h"
#include "ops/strided_loop.h"

#define HEADRACE_FOR_EACH_ISA "ops/conv/conv.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

constexpr int64_t kOutputs = 16 * kConvRows;  // of one share of a panel

bool supports(const KernelRequest& request) { return request.call.input(0).dtype == DType::kF32; }

// Weight and bias as panels read them: (groups, tiles, 1 + k, kConvRows).
class WeightTiles {
 public:
  WeightTiles(std::span<const Tensor> operands, int64_t groups)
      : weight_(operands[1]), bias_(operands.size() == 3 ? operands[2] : Tensor()), rows_(weight_), outputs_(weight_.sizes[0] / groups),
        k_(Sizes(std::span(weight_.sizes).subspan(1)).numel()), of_group_((outputs_ + kConvRows - 1) / kConvRows),
        count_(groups * of_group_) {}

  int64_t count() const { return count_; }
  int64_t floats() const { return count_ * (1 + k_) * kConvRows; }
  int64_t floats_of_group() const { return of_group_ * (1 + k_) * kConvRows; }

  void pack(int64_t tile, float* tiles) const {
    float* to = tiles + tile * (1 + k_) * kConvRows;
    std::fill_n(to, (1 + k_) * kConvRows, 0.0f);
    const int64_t first = tile % of_group_ * kConvRows, length = rows_.length();
    std::vector<float> row(static_cast<size_t>(length));
    for (int64_t i = 0; i < kConvRows && first + i < outputs_; ++i) {
      const int64_t output = tile / of_group_ * outputs_ + first + i;
      if (bias_.data) read_run(bias_, output * bias_.strides[0], 1, to + i, 1);
      for (int64_t begin = 0; begin < k_; begin += length) {
        read_run(weight_, rows_.offset((output * k_ + begin) / length), rows_.step(), row.data(), length);
        for (int64_t j = 0; j < length; ++j) to[(1 + begin + j) * kConvRows + i] = row[size_t(j)];
      }
    }
  }

 private:
  Tensor weight_, bias_;
  Rows rows_;
  int64_t outputs_, k_, of_group_, count_;  // outputs and tiles of one group
};

class ConvPanels : public CpuKernel {
 public:
  explicit ConvPanels(const KernelRequest& request)
      : op_(request.call.op.name), isa_(cpu_isa(request)), groups_(request.call.as<Conv>().groups), windows_(conv_windows(request.call)) {
    std::vector<Tensor> operands;
    for (const Constant& c : request.constants) operands.push_back(c.tensor);
    if (std::any_of(operands.begin() + 1, operands.end(), [](const Tensor& t) { return !t.data; })) return;
    const WeightTiles tiles(operands, groups_);
    packed_.resize(size_t(tiles.floats()));
    for (int64_t tile = 0; tile < tiles.count(); ++tile) tiles.pack(tile, packed_.data());
  }

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor>) const override {
    return packed_.empty() ? size_t(WeightTiles(inputs, groups_).floats()) * sizeof(float) : 0;
  }

  void run(Team& team, const Launch& launch) const override {
    const Tensor x = with_height(launch.inputs[0]), y = with_height(launch.outputs[0]);
    const WeightTiles tiles(launch.inputs, groups_);
    const float* weight = packed_.data();
    if (packed_.empty()) {
      float* packed = reinterpret_cast<float*>(launch.workspace);
      team.for_each(tiles.count(), 1, [&](int64_t tile, int64_t) { tiles.pack(tile, packed); });
      team.barrier();
      weight = packed;
    }
    const auto panel = for_isa(isa_, baseline::conv_panel, avx2::conv_panel, avx512vnni::conv_panel);
    const int64_t width = for_isa(isa_, baseline::conv_panel_places, avx2::conv_panel_places, avx512vnni::conv_panel_places)();
    const int64_t places = y.sizes[2] * y.sizes[3], outputs = y.sizes[1] / groups_, channels = x.sizes[1] / groups_;
    const int64_t panels = (places + width - 1) / width, pieces = (outputs + kOutputs - 1) / kOutputs;
    const int64_t k = channels * windows_[0].size * windows_[1].size;
    team.for_each(y.sizes[0] * groups_ * panels * pieces, 1, [&](int64_t unit, int64_t) {
      const int64_t image = unit / (groups_ * panels * pieces), group = unit / (panels * pieces) % groups_;
      const int64_t place = unit / pieces % panels * width, output = unit % pieces * kOutputs;
      panel({.x = x.as<float>() + image * x.strides[0] + group * channels * x.strides[1],
             .x_channel = x.strides[1],
             .x_row = x.strides[2],
             .x_column = x.strides[3],
             .height = x.sizes[2],
             .width = x.sizes[3],
             .windows = windows_,
             .k = k,
             .out_width = y.sizes[3],
             .first_place = place,
             .places = std::min(width, places - place),
             .weight = weight + group * tiles.floats_of_group() + output * (1 + k),
             .y = y.as<float>() + ((image * groups_ + group) * outputs + output) * places + place,
             .y_output = places,
             .outputs = std::min(kOutputs, outputs - output)});
    });
  }
  bool reads_constants() const override { return packed_.empty(); }
  int64_t held_bytes() const override { return int64_t(packed_.size() * sizeof(float)); }
  std::string description() const override { return op_ + "/panels " + std::string(name(isa_)); }

 private:
  std::string op_;
  CpuIsa isa_;
  int64_t groups_;
  Windows windows_;
  std::vector<float> packed_;  // empty: weight or bias are not known when the kernel is made
};

}  // namespace

void register_conv_cpu(KernelRegistry& kernels) {
  for (const char* op : {"conv1d", "conv2d"})
    kernels.add({.op = op, .name = "panels/cpu", .supports = supports, .make = make_as<ConvPanels>});
}

}  // namespace headrace
