#include "ops/function_call.h"

#include "core/dtype.h"

namespace headrace {
namespace {

enum class Kind { kBool, kInteger, kFloat };

Kind kind_of(DType dtype) { return dtype == DType::kBool ? Kind::kBool : is_integer(dtype) ? Kind::kInteger : Kind::kFloat; }
Kind kind_of(const Operand& number) { return Kind(number.number.index() - 1); }

// The type of a number beside a tensor of type `beside`: torch.result_type of a tensor and a scalar.
DType number_type(const Operand& number, DType beside) {
  if (kind_of(number) <= kind_of(beside)) return is_block(beside) ? DType::kF32 : beside;
  return kind_of(number) == Kind::kFloat ? DType::kF32 : DType::kI64;
}

template <typename T>
bool fits(auto number) {
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) return true;
  else if constexpr (std::is_same_v<decltype(number), double>) return number > -0x1p63 && number < 0x1p63 && fits<T>(int64_t(number));
  else return std::in_range<T>(int64_t(number));
}

template <typename Number>
Value constant_of(Graph& graph, std::string_view op, Number number, DType dtype, const std::source_location& where) {
  HostTensor tensor(dtype, Sizes{});
  dispatch(dtype, [&]<typename T>() {
    if (!fits<T>(number)) invalid("{}: the number {} does not fit {}{}", op, number, name(dtype), at_place(where));
    if constexpr (std::is_arithmetic_v<T>) tensor.as<T>()[0] = T(number);
    else tensor.as<T>()[0] = T(float(number));
  });
  return graph.constant(std::move(tensor));
}

}  // namespace

Value number_constant(Graph& graph, std::string_view op, const Operand& operand, DType dtype) {
  return std::visit(
      [&]<typename Number>(Number number) {
        if constexpr (std::is_same_v<Number, std::monostate>) return Value();  // which emit refuses
        else return constant_of(graph, op, number, dtype, operand.where);
      },
      operand.number);
}

std::vector<Value> emit_all(std::string_view op, Attributes attributes, std::vector<Operand> operands) {
  const std::source_location& where = operands[0].where;
  const Operand* model = nullptr;  // beside which numbers get their type: of the highest kind
  for (const Operand& o : operands)
    if (o.value && (!model || kind_of(o.value.dtype()) > kind_of(model->value.dtype()))) model = &o;
  if (!model) invalid("{}: no operand is a Value of a graph: they are empty, or numbers{}", op, at_place(where));
  Graph& graph = model->value.graph();
  std::vector<Value> values;
  for (const Operand& o : operands)
    values.push_back(o.value ? o.value : number_constant(graph, op, o, number_type(o, model->value.dtype())));
  return graph.emit_all(op, std::move(attributes), std::move(values), where);
}

}  // namespace headrace
