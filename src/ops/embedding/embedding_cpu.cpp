// Rows of the table widened where they are stored. Threads share pieces of rows, so that one token is shared too.
#include <algorithm>

#include "core/blocks.h"
#include "device/cpu/cpu_device.h"
#include "ops/embedding/embedding.h"
#include "ops/strided_loop.h"

namespace headrace {
namespace {

constexpr int64_t kPiece = 1024;  // elements: whole blocks of every type

class EmbeddingKernel : public CpuKernel {
 public:
  void run(Team& team, const Launch& launch) const override {
    const Tensor &ids = launch.inputs[0], &table = launch.inputs[1], &out = launch.outputs[0];
    const Rows id_rows(ids);
    const int64_t hidden = table.sizes[1], pieces = (hidden + kPiece - 1) / kPiece;
    const auto [begin, end] = team.share(ids.numel() * pieces);
    float wide[kPiece];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t i = unit / pieces, first = unit % pieces * kPiece, n = std::min(kPiece, hidden - first);
      const int64_t at = id_rows.offset(i / id_rows.length()) + i % id_rows.length() * id_rows.step();
      const int64_t id = ids.dtype == DType::kI32 ? ids.as<int32_t>()[at] : ids.as<int64_t>()[at];
      std::byte* to = out.as<std::byte>() + (i * hidden + first) * info(out.dtype).block_bytes;
      float* floats = out.dtype == DType::kF32 ? reinterpret_cast<float*>(to) : wide;
      if (table.sizes[0] == 0) std::fill_n(floats, n, 0.0f);
      else
        read_run(table, std::clamp<int64_t>(id, 0, table.sizes[0] - 1) * table.strides[0] + first * table.strides[1], table.strides[1],
                 floats, n);
      if (floats == wide) from_float(out.dtype, wide, to, n);
    }
  }
  std::string description() const override { return "embedding/rows"; }
};

}  // namespace

void register_embedding_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "embedding", .name = "rows/cpu", .supports = supports_all, .make = make_as<EmbeddingKernel>});
}

}  // namespace headrace
