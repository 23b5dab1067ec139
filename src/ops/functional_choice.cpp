// Comparison and choice.
#include "ops/function_call.h"
#include "ops/gather/gather.h"
#include "ops/pad/pad.h"
#include "ops/reduce/reduce.h"
#include "ops/softmax/softmax.h"
#include "ops/topk/topk.h"

namespace headrace {

Value eq(Operand x, Operand y) { return emit("eq", {x, y}); }
Value ne(Operand x, Operand y) { return emit("ne", {x, y}); }
Value lt(Operand x, Operand y) { return emit("lt", {x, y}); }
Value le(Operand x, Operand y) { return emit("le", {x, y}); }
Value gt(Operand x, Operand y) { return emit("gt", {x, y}); }
Value ge(Operand x, Operand y) { return emit("ge", {x, y}); }
Value logical_and(Operand x, Operand y) { return emit("logical_and", {x, y}); }
Value logical_or(Operand x, Operand y) { return emit("logical_or", {x, y}); }
Value logical_xor(Operand x, Operand y) { return emit("logical_xor", {x, y}); }
Value logical_not(Operand x) { return emit("eq", {x, false}); }

namespace {

Operand truth_of(const Operand& x) { return x.value && x.value.dtype() != DType::kBool ? Operand(emit("ne", {x, false}), x.where) : x; }

Value reduce(std::string_view op, const Operand& x, Axes dim, bool keepdim) {
  return emit(op, Reduce{.axes = std::move(dim.list), .keepdim = keepdim}, {x});
}

}  // namespace

Value all(Operand x, Axes dim, bool keepdim) { return reduce("min", truth_of(x), std::move(dim), keepdim); }
Value any(Operand x, Axes dim, bool keepdim) { return reduce("max", truth_of(x), std::move(dim), keepdim); }

Value clamp(Operand x, Operand min, Operand max) {
  const auto is_given = [](const Operand& o) { return o.value || o.number.index() > 0; };
  if (!is_given(min) && !is_given(max)) FunctionCall{"clamp", x}.reject("neither min nor max is given");
  if (is_given(min)) x = {maximum(x, min), x.where};
  return is_given(max) ? minimum(x, max) : x.value;
}

Value remainder(Operand x, Operand y) { return emit("remainder", {x, y}); }
Value sign(Operand x) { return emit("sign", {x}); }
Value floor(Operand x) { return emit("floor", {x}); }
Value ceil(Operand x) { return emit("ceil", {x}); }
Value round(Operand x) { return emit("round", {x}); }
Value prod(Operand x, Axes dim, bool keepdim) { return reduce("prod", x, std::move(dim), keepdim); }
Value log_softmax(Operand x, int64_t dim) { return emit("log_softmax", Softmax{.axis = dim}, {x}); }

TopKValues topk(Operand x, int64_t k, int64_t dim, bool largest) {
  const std::vector<Value> results = emit_all("topk", TopK{.k = k, .axis = dim, .largest = largest}, {x});
  return {results[0], results[1]};
}

Value gather(Operand x, int64_t dim, Operand index) { return emit("gather", Gather{.axis = dim}, {x, index}); }

Value one_hot(Operand ids, int64_t num_classes) {
  const FunctionCall call{"one_hot", ids};
  call.shape();
  if (!is_integer(ids.value.dtype())) call.reject("ids are wanted as integers");
  const Value classes = arange(ids.value.graph(), num_classes, ids.where);
  return cast({eq({unsqueeze(ids, -1), ids.where}, classes), ids.where}, DType::kI64);
}

Value pad(Operand x, std::vector<int64_t> pad, double value) { return emit("pad", Pad{.pads = std::move(pad), .value = value}, {x}); }

}  // namespace headrace
