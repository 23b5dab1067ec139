#include "ops/dense_rows.h"

#include "core/error.h"
#include "ops/reference.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

// Remembers what it was shown.
class Witness : public CpuKernel {
 public:
  explicit Witness(Launch* seen) : seen_(seen) {}
  size_t workspace_bytes(std::span<const Tensor>, std::span<const Tensor>) const override { return 8; }
  void run(Team& team, const Launch& launch) const override {
    if (team.rank() == 0) *seen_ = launch;
  }
  std::string description() const override { return "witness"; }

 private:
  Launch* seen_;
};

Tensor tensor(HostTensor& memory, const Sizes& sizes, const Sizes& strides) { return {memory.as<float>(), DType::kF32, sizes, strides}; }

TEST(DenseRows, CopiesTheOperandsThatDoNotFitAndNoOthers) {
  HostTensor memory(DType::kF32, {100});
  for (int i = 0; i < 100; ++i) memory.as<float>()[i] = float(i);
  const Tensor dense = tensor(memory, {2, 3, 4}, {40, 9, 1}), even = tensor(memory, {2, 3, 4}, {27, 9, 1});
  const Tensor columns = tensor(memory, {2, 3, 4}, {12, 1, 3}), vector = tensor(memory, {5}, {2});
  CpuDevice device({.num_threads = 2});
  Launch seen;
  const std::unique_ptr<Kernel> kernel = with_dense_rows(std::make_unique<Witness>(&seen), {.dense = {0, 1}, .even = {2, 3, 4}});
  Launch launch{kernel.get(), {dense, columns, dense, even, vector, columns}, {}, nullptr};
  const Buffer workspace = device.allocate(kernel->workspace_bytes(launch.inputs, launch.outputs));
  EXPECT_EQ(workspace.size(), 128u + 128 + 64 + 8);
  launch.workspace = workspace.data();
  device.make_stream()->run(std::span(&launch, 1));
  ASSERT_EQ(seen.inputs.size(), launch.inputs.size());
  for (size_t i = 0; i < seen.inputs.size(); ++i) {
    const bool copied = i == 1 || i == 2 || i == 4;
    EXPECT_EQ(seen.inputs[i].data != launch.inputs[i].data, copied) << i;
    EXPECT_EQ(seen.inputs[i].is_contiguous(), copied) << i;
    EXPECT_EQ(read_floats(contiguous_copy(seen.inputs[i])), read_floats(contiguous_copy(launch.inputs[i]))) << i;
  }
  EXPECT_EQ(seen.workspace, workspace.data() + 320);
}

TEST(DenseRows, RefusesAnOperandThatIsChangedInPlaceAndDoesNotFit) {
  HostTensor memory(DType::kF32, {100});
  Launch seen;
  const std::unique_ptr<Kernel> kernel = with_dense_rows(std::make_unique<Witness>(&seen), {.in_place = {0}});
  EXPECT_EQ(kernel->workspace_bytes(std::vector<Tensor>{tensor(memory, {2, 3}, {50, 1})}, {}), 8u);
  try {
    kernel->workspace_bytes(std::vector<Tensor>{tensor(memory, {2, 3}, {1, 2})}, {});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code, ErrorCode::kUnsupported);
    EXPECT_THAT(e.what(), HasSubstr("witness: operand 0 [2, 3]"));
  }
}

}  // namespace
}  // namespace headrace
