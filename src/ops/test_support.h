// What tests of ops share: a new op's test is a few lines. Each function takes the op's name, its attributes and its operands.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <unordered_map>

#include "ops/kernel.h"
#include "ops/ops.h"

namespace headrace {

// Floats uniform in [-scale, scale]; integers in [0, scale]; bool 0 or 1; block types quantized where that is possible, else
// random bits with sane scales. The same for the same seed.
HostTensor random_tensor(const Sizes& sizes, DType dtype = DType::kF32, uint32_t seed = 1, float scale = 2);
HostTensor floats(const Sizes& sizes, const std::vector<float>& values, DType dtype = DType::kF32);
HostTensor integers(const Sizes& sizes, const std::vector<int64_t>& values, DType dtype = DType::kI32);
TensorType type_of(const Tensor& tensor);
TensorType parse_type(std::string_view text);  // "f32[tokens, 8]", as TensorType::to_string prints it

struct TestOperand {
  HostTensor tensor;
  bool constant = false;                                         // known when kernels are made
  bool as_is = false;                                            // never shown to kernels with other strides
  bool written = false;                                          // kernels and reference write to it: compared after the run
  TestOperand(HostTensor tensor) : tensor(std::move(tensor)) {}  // NOLINT: a tensor is an operand
};
TestOperand constant(HostTensor tensor);

// The shape rule.
std::vector<TensorType> infer(std::string_view op, const Attributes& attributes, const std::vector<std::string>& operand_types);
std::string inferred(std::string_view op, const Attributes& attributes, const std::vector<std::string>& operand_types);  // "f32[2], f32[2]"
// The message with which it refuses; empty (and a failure) when it does not.
std::string rejection(std::string_view op, const Attributes& attributes, const std::vector<std::string>& operand_types);

std::vector<HostTensor> run_reference(std::string_view op, const Attributes& attributes, const std::vector<TestOperand>& operands);
std::vector<float> reference_floats(std::string_view op, const Attributes& attributes,
                                    const std::vector<TestOperand>& operands);  // of the first result

struct Check {
  double relative = 2e-6, absolute = 2e-6;  // of floats; NaN and infinity must be equal, integers too
  int least_kernels = 1;                    // so many kernels must support the operands
  Arithmetic arithmetic = Arithmetic::kExact;
};

// Runs every CPU kernel that supports the operands, with each instruction set of this machine, with 1, 2 and 3 threads, on
// contiguous operands, on rows with gaps of NaN between them, and on columns; memory is exact, so that sanitizers see one step
// beyond it. Compares with the reference.
void expect_kernels_match_reference(std::string_view op, const Attributes& attributes, const std::vector<TestOperand>& operands,
                                    const Check& check = {});

// Whether the op's decomposition computes what its reference does.
void expect_decomposition_matches(std::string_view op, const Attributes& attributes, const std::vector<TestOperand>& operands,
                                  const Check& check = {});

// Evaluates a graph by references. `leaves` holds inputs and parameters by name; results are the graph's outputs, in order.
std::vector<HostTensor> evaluate(const Graph& graph, const std::unordered_map<std::string, HostTensor>& leaves);

void expect_equal(const Tensor& actual, const Tensor& expected, const Check& check, const std::string& what);

}  // namespace headrace
