#include "ops/region/region.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "ops/binary/binary.h"
#include "ops/ops.h"
#include "ops/reduce/reduce.h"
#include "ops/reference.h"

namespace headrace {
namespace {

bool is_region_dtype(DType dtype) { return is_float(dtype) || dtype == DType::kBool || dtype == DType::kI8 || dtype == DType::kU8; }

bool reduces_last_axis(const Node& node) {
  const std::string& op = node.op().name;
  if (op != "sum" && op != "mean" && op != "max" && op != "min") return false;
  const auto& reduce = node.attributes_as<Reduce>();
  const int rank = node.input(0).shape().rank();
  return reduce.keepdim && rank > 0 &&
         (reduce.axes.size() == 1 ? reduce.axes[0] == -1 || reduce.axes[0] == rank - 1 : reduce.axes.empty() && rank == 1);
}

// a over b, where both broadcast.
Shape broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(static_cast<size_t>(rank));
  for (int i = 1; i <= rank; ++i) {
    const Dim x = i <= a.rank() ? a[-i] : Dim(1), y = i <= b.rank() ? b[-i] : Dim(1);
    if (x != y && x != Dim(1) && y != Dim(1)) invalid("region: values {} and {} do not broadcast", a.to_string(), b.to_string());
    dims[size_t(rank - i)] = x == Dim(1) ? y : x;
  }
  return Shape(std::move(dims));
}

void check(const Graph& body) {
  for (const Leaf kind : {Leaf::kParameter, Leaf::kState})
    if (!body.leaves(kind).empty()) invalid("region: a body has inputs and constants, '{}' is neither", body.leaves(kind)[0].name());
  for (const Value& c : body.leaves(Leaf::kConstant))
    if (c.shape().numel() != Dim(1) || !is_region_dtype(c.dtype()))
      invalid("region: the constant '{}' is {}; numbers are wanted", c.name(), c.type().to_string());
  for (const Node* node : body.nodes())
    if (!is_region_op(*node)) invalid("region: {} -> {} cannot be part of a body", node->op().name, node->output().type().to_string());
  if (body.outputs().empty()) invalid("region: the body has no result");
  const Shape domain = domain_of(body);
  Shape row = domain;
  if (row.rank() > 0) row[-1] = 1;
  for (const Graph::Output& o : body.outputs())
    if (!o.value.producer() || (o.value.shape() != domain && o.value.shape() != row))
      invalid("region: the result '{}' is {}; a node's is wanted, as large as the body's largest values, {}, or with a last axis of 1",
              o.name, o.value.type().to_string(), domain.to_string());
  for (const Node* node : body.nodes()) {
    if (node->op().pointwise) continue;
    const Shape& x = node->input(0).shape();
    if (x.rank() != domain.rank() || x[-1] != domain[-1])
      invalid("region: {} is over the last axis of {}, the body's values have {}", node->op().name, x.to_string(), domain.to_string());
  }
}

std::vector<TensorType> infer(const OpCall& call) {
  const Graph& body = call.as<Region>().body.graph();
  const std::vector<Value> inputs = body.leaves(Leaf::kInput);
  call.want(int(inputs.size()) == call.num_inputs(), fmt::format("the body reads {} operands", inputs.size()));
  std::vector<TensorType> types;
  if (std::equal(inputs.begin(), inputs.end(), call.inputs.begin(), [](const Value& v, const TensorType& t) { return v.type() == t; })) {
    for (const Graph::Output& o : body.outputs()) types.push_back(o.value.type());
    return types;
  }
  Graph other = body.clone();
  const std::vector<Value> others = other.leaves(Leaf::kInput);
  for (size_t i = 0; i < others.size(); ++i) other.set_type(others[i], call.inputs[i]);
  try {
    other.infer_types();
    check(other);
  } catch (const Error& e) {
    call.reject(e.what());
  }
  for (const Graph::Output& o : other.outputs()) types.push_back(o.value.type());
  return types;
}

// By the references of the body's ops; types with sizes follow from those of the operands.
void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const Graph& body = call.as<Region>().body.graph();
  std::unordered_map<Value, Tensor> tensors;
  std::vector<HostTensor> owners;
  const std::vector<Value> inputs = body.leaves(Leaf::kInput);
  for (size_t i = 0; i < inputs.size(); ++i) tensors[inputs[i]] = in[i];
  for (const Value& c : body.leaves(Leaf::kConstant)) tensors[c] = c.constant();
  for (const Node* node : body.nodes()) {
    std::vector<Tensor> operands;
    std::vector<TensorType> types;
    for (const Value& v : node->inputs()) {
      operands.push_back(tensors.at(v));
      types.push_back({v.dtype(), Shape(std::vector<Dim>(operands.back().sizes.begin(), operands.back().sizes.end()))});
    }
    const OpCall inner{node->op(), node->attributes(), types};
    const TensorType result = node->op().infer(inner)[0];
    owners.emplace_back(result.dtype, result.shape.sizes());
    tensors[node->output()] = owners.back();
    node->op().reference(inner, operands, std::span(&tensors[node->output()], 1));
  }
  for (size_t i = 0; i < out.size(); ++i) std::memcpy(out[i].data, tensors.at(body.outputs()[i].value).data, size_t(out[i].bytes()));
}

std::vector<Value> decompose(Graph& graph, const Node& node, std::span<const Value> operands) {
  const Graph& body = node.attributes_as<Region>().body.graph();
  std::unordered_map<std::string, Value> leaves;
  const std::vector<Value> inputs = body.leaves(Leaf::kInput);
  for (size_t i = 0; i < inputs.size(); ++i) leaves[inputs[i].name()] = operands[i];
  return graph.inline_graph(body, leaves);
}

}  // namespace

bool is_region_op(const Node& node) {
  if (!builtin_ops()->find(node.op().name)) return false;  // a body is read back by anybody
  if (node.outputs().size() != 1 || !is_region_dtype(node.output().dtype())) return false;
  // Arithmetic on bool is that of integers: 0 % 0 is 0, and no NaN.
  if (node.output().dtype() == DType::kBool &&
      std::find(std::begin(kBinaryNames), std::end(kBinaryNames), node.op().name) != std::end(kBinaryNames))
    return false;
  // Arithmetic on integers wraps around, which fp32 does not.
  if (is_integer(node.output().dtype()) && !(node.op().name == "cast" && !is_integer(node.input(0).dtype()))) return false;
  for (const Value& in : node.inputs())
    if (!is_region_dtype(in.dtype())) return false;
  return node.op().pointwise || reduces_last_axis(node);
}

Shape domain_of(const Graph& body) {
  Shape domain;
  for (const Node* node : body.nodes())
    for (const Value& in : node->inputs()) domain = broadcast(domain, in.shape());
  return domain;
}

bool is_per_row(Value value, const Shape& domain) {
  return domain.rank() > 0 && domain[-1] != Dim(1) && (value.shape().rank() == 0 || value.shape()[-1] == Dim(1));
}

RegionBody::RegionBody() : graph_(std::make_shared<const Graph>(builtin_ops(), "body")) {}

RegionBody::RegionBody(Graph graph) {
  check(graph);
  graph_ = std::make_shared<const Graph>(std::move(graph));
}

std::string RegionBody::to_text() const {
  const std::string text = graph_->to_text();
  return text.substr(text.find('{'), text.rfind('}') + 1 - text.find('{'));
}

RegionBody RegionBody::from_text(std::string_view text) {
  return RegionBody(Graph::parse("graph body " + std::string(text), builtin_ops()));
}

void register_region(OpRegistry& ops) {
  ops.add({.name = "region",
           .attributes = &attribute_type<Region>(),
           .min_inputs = 1,
           .max_inputs = 64,
           .infer = infer,
           .reference = reference,
           .decompose = decompose});
}

}  // namespace headrace
