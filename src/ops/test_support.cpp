#include "ops/test_support.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "core/blocks.h"
#include "core/error.h"
#include "device/cpu/cpu_device.h"
#include "ops/reference.h"

namespace headrace {
namespace {

// Memory of exactly `bytes`, every one of them 0xff at first: a NaN, whatever the type.
std::shared_ptr<std::byte> exact_memory(size_t bytes) {
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(std::malloc(std::max<size_t>(bytes, 1))), std::free);
  std::memset(memory.get(), 0xff, bytes);
  return memory;
}

enum class Arrangement { kContiguous, kRowsWithGaps, kColumns };
constexpr const char* kArrangementNames[] = {"contiguous", "rows with gaps", "columns"};

struct Placed {
  Tensor tensor;
  std::shared_ptr<std::byte> memory;
};

int64_t row_bytes(const Tensor& t, int64_t elements) { return storage_bytes(t.dtype, elements); }

Placed place(const Tensor& t, Arrangement arrangement) {
  if (t.rank() == 0 || (arrangement == Arrangement::kColumns && is_block(t.dtype))) arrangement = Arrangement::kContiguous;
  Placed placed{t, {}};
  const int64_t block = info(t.dtype).block_elements, gap = arrangement == Arrangement::kRowsWithGaps ? 3 * block : 0;
  Sizes& strides = placed.tensor.strides;
  if (arrangement == Arrangement::kColumns && t.rank() == 1) {
    strides[0] = 2;
  } else if (arrangement == Arrangement::kColumns) {
    const Sizes turned = [&] {
      Sizes s = t.sizes;
      std::swap(s[-1], s[-2]);
      return s;
    }();
    strides = Tensor::contiguous(static_cast<void*>(nullptr), t.dtype, turned).strides;
    std::swap(strides[-1], strides[-2]);
  } else {
    int64_t stride = 1;
    for (int i = t.rank() - 1; i >= 0; --i) {
      strides[i] = stride;
      stride *= t.sizes[i] + (i == t.rank() - 1 ? gap : 0);
    }
  }
  int64_t last = t.numel() == 0 ? -block : 0;  // offset of the last block
  for (int i = 0; i < t.rank() && t.numel() > 0; ++i) last += (t.sizes[i] - (i == t.rank() - 1 ? block : 1)) * strides[i];
  if (t.rank() == 0) last = 0;
  placed.memory = exact_memory(size_t(row_bytes(t, last + block)));
  placed.tensor.data = placed.memory.get();
  if (t.numel() == 0) return placed;
  const int64_t row = t.rank() == 0 ? 1 : t.sizes[-1], step = t.rank() == 0 ? 1 : strides[-1];
  for (int64_t r = 0; r < t.numel() / row; ++r) {
    int64_t rest = r, offset = 0;
    for (int axis = t.rank() - 2; axis >= 0; --axis) offset += rest % t.sizes[axis] * strides[axis], rest /= t.sizes[axis];
    for (int64_t i = 0; i < row; i += block)
      std::memcpy(placed.memory.get() + row_bytes(t, offset + i * step), t.as<std::byte>() + row_bytes(t, r * row + i),
                  size_t(info(t.dtype).block_bytes));
  }
  return placed;
}

const OpDef& definition(std::string_view op) {
  const OpDef* found = builtin_ops()->find(op);
  if (!found) fail(ErrorCode::kNotFound, "there is no op '{}'", op);
  return *found;
}

std::vector<TensorType> types_of(const std::vector<TestOperand>& operands) {
  std::vector<TensorType> types;
  for (const TestOperand& o : operands) types.push_back(type_of(o.tensor));
  return types;
}

Sizes sizes_of(const TensorType& type) {
  Sizes sizes;
  for (const Dim& d : type.shape.dims()) sizes.push_back(d.value());
  return sizes;
}

// Outputs of the reference, and the operands as it left them.
struct Expected {
  std::vector<HostTensor> outputs, operands;
};

Expected reference(const OpDef& op, const Attributes& attributes, const std::vector<TestOperand>& operands) {
  const std::vector<TensorType> types = types_of(operands);
  const OpCall call{op, attributes, types};
  Expected expected;
  std::vector<Tensor> in, out;
  for (const TestOperand& o : operands) in.push_back(expected.operands.emplace_back(contiguous_copy(o.tensor)));
  for (const TensorType& type : op.infer(call)) out.push_back(expected.outputs.emplace_back(type.dtype, sizes_of(type)));
  op.reference(call, in, out);
  return expected;
}

void run_kernel(const KernelDef& def, const KernelRequest& request, const std::vector<TestOperand>& operands, Arrangement arrangement,
                const Expected& expected, const Check& check, const std::string& what) {
  Launch launch;
  std::vector<Placed> placed;
  for (const TestOperand& o : operands)
    launch.inputs.push_back(placed.emplace_back(place(o.tensor, o.as_is ? Arrangement::kContiguous : arrangement)).tensor);
  for (const HostTensor& o : expected.outputs) {
    Placed& p = placed.emplace_back(place(o, Arrangement::kContiguous));
    std::memset(p.memory.get(), 0xff, size_t(o.view().bytes()));
    launch.outputs.push_back(p.tensor);
  }
  if (const int in_place = request.call.op.in_place_operand; in_place >= 0) launch.outputs[0] = launch.inputs[in_place];
  std::vector<Constant> constants(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].constant) constants[i] = {placed[i].tensor, placed[i].memory};
  const std::unique_ptr<Kernel> kernel = def.make({request.call, request.outputs, constants, request.arithmetic, request.device});
  const std::shared_ptr<std::byte> workspace = exact_memory(kernel->workspace_bytes(launch.inputs, launch.outputs));
  launch.kernel = kernel.get();
  launch.workspace = workspace.get();
  request.device.make_stream()->run(std::span(&launch, 1));
  for (size_t i = 0; i < launch.outputs.size(); ++i)
    expect_equal(launch.outputs[i], expected.outputs[i], check, fmt::format("{} ({}), result {}", what, kernel->description(), i));
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].written)
      expect_equal(contiguous_copy(launch.inputs[i]), expected.operands[i], check,
                   fmt::format("{} ({}), operand {}", what, kernel->description(), i));
}

}  // namespace

HostTensor random_tensor(const Sizes& sizes, DType dtype, uint32_t seed, float scale) {
  HostTensor t(dtype, sizes);
  std::mt19937 random(seed);
  std::vector<float> values(size_t(sizes.numel()));
  for (float& v : values) v = float(random() >> 8) / float(1 << 24) * 2 - 1;
  if (dtype == DType::kBool) {
    for (size_t i = 0; i < values.size(); ++i) t.as<bool>()[i] = values[i] > 0;
  } else if (is_integer(dtype)) {
    for (float& v : values) v = std::floor((v + 1) / 2 * (scale + 0.999f));
    write_floats(t, values);
  } else if (dtype == DType::kQ2_K || dtype == DType::kQ3_K || dtype == DType::kQ4_K || dtype == DType::kQ5_K || dtype == DType::kQ6_K) {
    // No quantizer: random bits; bytes of the fp16 scales, which stand at the block's end or start, are cut to small numbers.
    const size_t bytes = size_t(t.view().bytes()), block = size_t(info(dtype).block_bytes);
    for (size_t i = 0; i < bytes; ++i) t.as<uint8_t>()[i] = uint8_t(random() >> 16);
    for (size_t b = 0; b < bytes; b += block)
      for (size_t at : {size_t{0}, size_t{2}, block - 4, block - 2}) {
        const uint16_t small = Half(0.01f * scale).bits;
        std::memcpy(t.as<uint8_t>() + b + at, &small, 2);
      }
  } else {
    for (float& v : values) v *= scale;
    write_floats(t, values);
  }
  return t;
}

HostTensor floats(const Sizes& sizes, const std::vector<float>& values, DType dtype) {
  HostTensor t(dtype, sizes);
  if (int64_t(values.size()) != sizes.numel()) fail(ErrorCode::kInvalidArgument, "{} values for {}", values.size(), sizes.to_string());
  write_floats(t, values);
  return t;
}

HostTensor integers(const Sizes& sizes, const std::vector<int64_t>& values, DType dtype) {
  HostTensor t(dtype, sizes);
  if (int64_t(values.size()) != sizes.numel()) fail(ErrorCode::kInvalidArgument, "{} values for {}", values.size(), sizes.to_string());
  write_integers(t, values);
  return t;
}

TensorType type_of(const Tensor& tensor) {
  TensorType type{tensor.dtype, {}};
  for (int64_t size : tensor.sizes) type.shape.push_back(size);
  return type;
}

TensorType parse_type(std::string_view text) {
  const size_t open = text.find('[');
  const std::optional<DType> dtype = parse_dtype(text.substr(0, open));
  if (!dtype || open == text.npos || text.back() != ']') fail(ErrorCode::kInvalidArgument, "'{}' is no type", text);
  TensorType type{*dtype, {}};
  detail::from_text(text.substr(open), type.shape);
  return type;
}

TestOperand constant(HostTensor tensor) {
  TestOperand operand(std::move(tensor));
  operand.constant = true;
  return operand;
}

std::vector<TensorType> infer(std::string_view op, const Attributes& attributes, const std::vector<std::string>& operand_types) {
  std::vector<TensorType> types;
  for (const std::string& t : operand_types) types.push_back(parse_type(t));
  const OpDef& def = definition(op);
  return def.infer({def, def.attributes && !attributes.type() ? Attributes(def.attributes, {}) : attributes, types});
}

std::string inferred(std::string_view op, const Attributes& attributes, const std::vector<std::string>& operand_types) {
  std::string text;
  for (const TensorType& t : infer(op, attributes, operand_types)) text += (text.empty() ? "" : ", ") + t.to_string();
  return text;
}

std::string rejection(std::string_view op, const Attributes& attributes, const std::vector<std::string>& operand_types) {
  try {
    infer(op, attributes, operand_types);
  } catch (const Error& e) {
    EXPECT_EQ(e.code, ErrorCode::kInvalidArgument);
    return e.what();
  }
  ADD_FAILURE() << op << " accepts the operands";
  return "";
}

std::vector<HostTensor> run_reference(std::string_view op, const Attributes& attributes, const std::vector<TestOperand>& operands) {
  return reference(definition(op), attributes, operands).outputs;
}

std::vector<float> reference_floats(std::string_view op, const Attributes& attributes, const std::vector<TestOperand>& operands) {
  return read_floats(run_reference(op, attributes, operands)[0]);
}

void expect_equal(const Tensor& actual, const Tensor& expected, const Check& check, const std::string& what) {
  ASSERT_EQ(actual.dtype, expected.dtype) << what;
  ASSERT_EQ(actual.sizes.to_string(), expected.sizes.to_string()) << what;
  if (!is_float(expected.dtype)) {
    if (std::memcmp(actual.data, expected.data, size_t(expected.bytes())) != 0) ADD_FAILURE() << what << ": bytes differ";
    return;
  }
  const std::vector<float> a = read_floats(actual), e = read_floats(expected);
  for (size_t i = 0; i < e.size(); ++i) {
    const bool same = std::isfinite(e[i]) ? std::fabs(double(a[i]) - e[i]) <= check.absolute + check.relative * std::fabs(e[i])
                                          : a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]));
    ASSERT_TRUE(same) << what << ": element " << i << " of " << expected.sizes.to_string() << " is " << a[i] << ", the reference has "
                      << e[i];
  }
}

void expect_kernels_match_reference(std::string_view op_name, const Attributes& attributes, const std::vector<TestOperand>& operands,
                                    const Check& check) {
  const OpDef& op = definition(op_name);
  const std::vector<TensorType> types = types_of(operands);
  const OpCall call{op, attributes, types};
  const std::vector<TensorType> outputs = op.infer(call);
  const Expected expected = reference(op, attributes, operands);
  std::vector<Constant> constants(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].constant) constants[i] = {operands[i].tensor, std::make_shared<HostTensor>(operands[i].tensor)};
  int kernels = 0;
  for (CpuIsa isa : runnable_cpu_isas())
    for (int threads : {1, 2, 3}) {
      CpuDevice device({.num_threads = threads, .isa = isa});
      const KernelRequest request{call, outputs, constants, check.arithmetic, device};
      kernels = 0;
      for (const KernelDef* def : builtin_kernels()->candidates(op_name, DeviceKind::kCpu)) {
        if (!def->supports(request)) continue;
        ++kernels;
        for (Arrangement arrangement : {Arrangement::kContiguous, Arrangement::kRowsWithGaps, Arrangement::kColumns}) {
          const std::string what =
              fmt::format("{} {} with {} and {} threads, {}", op_name, def->name, name(isa), threads, kArrangementNames[int(arrangement)]);
          run_kernel(*def, request, operands, arrangement, expected, check, what);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  EXPECT_GE(kernels, check.least_kernels) << op_name << ": kernels that support the operands";
}

std::vector<HostTensor> evaluate(const Graph& graph, const std::unordered_map<std::string, HostTensor>& leaves) {
  std::unordered_map<Value, HostTensor> values;
  const auto value_of = [&](Value v) -> const HostTensor& {
    if (v.leaf() == Leaf::kConstant) return v.constant();
    return v.leaf() == Leaf::kNone ? values.at(v) : leaves.at(v.name());
  };
  for (const Node* node : graph.nodes()) {
    std::vector<TestOperand> operands;
    for (const Value& in : node->inputs()) operands.push_back(value_of(in));
    const std::vector<HostTensor> results = reference(node->op(), node->attributes(), operands).outputs;
    for (size_t i = 0; i < results.size(); ++i) values[node->outputs()[i]] = results[i];
  }
  std::vector<HostTensor> outputs;
  for (const Graph::Output& o : graph.outputs()) outputs.push_back(value_of(o.value));
  return outputs;
}

void expect_decomposition_matches(std::string_view op, const Attributes& attributes, const std::vector<TestOperand>& operands,
                                  const Check& check) {
  Graph graph(builtin_ops());
  std::vector<Value> inputs;
  std::unordered_map<std::string, HostTensor> leaves;
  for (const TestOperand& o : operands) {
    inputs.push_back(graph.input("x" + std::to_string(inputs.size()), type_of(o.tensor)));
    leaves[inputs.back().name()] = o.tensor;
  }
  Node& node = *graph.emit_all(op, attributes, inputs)[0].producer();
  ASSERT_TRUE(node.op().decompose) << op << " has no decomposition";
  const std::vector<Value> parts = node.op().decompose(graph, node, inputs);
  ASSERT_EQ(parts.size(), node.outputs().size());
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].type().to_string(), node.outputs()[i].type().to_string());
    graph.mark_output(parts[i], "part" + std::to_string(i));
  }
  const std::vector<HostTensor> expected = run_reference(op, attributes, operands), actual = evaluate(graph, leaves);
  for (size_t i = 0; i < parts.size(); ++i)
    expect_equal(actual[i], expected[i], check, fmt::format("decomposition of {}, result {}", op, i));
}

}  // namespace headrace
