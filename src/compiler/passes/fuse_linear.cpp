// Everything that turns a linear into a fused_linear.
#include <algorithm>
#include <map>

#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"
#include "ops/fused_linear/fused_linear.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/unary/unary.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

// The parts of a fused_linear, by name. from() also reads a plain linear.
struct Parts {
  FusedLinear attributes;
  Value x, norm_weight, norm_bias, residual;
  std::vector<Value> weights, biases;

  static std::optional<Parts> from(const Node* node) {
    Parts p;
    if (is_op(node, "linear")) {
      p.x = node->input(0);
      p.weights = {node->input(1)};
      if (node->inputs().size() == 3) p.biases = {node->input(2)};
      p.attributes.bias = !p.biases.empty();
      return p;
    }
    if (!is_op(node, "fused_linear")) return std::nullopt;
    p.attributes = node->attributes_as<FusedLinear>();
    const FusedLinearOperands at(p.attributes);
    const auto operand = [&](int i) { return i < 0 ? Value() : node->input(i); };
    p.x = node->input(0), p.norm_weight = operand(at.norm_weight), p.norm_bias = operand(at.norm_bias), p.residual = operand(at.residual);
    for (int i = 0; i < int(p.attributes.num_weights); ++i) p.weights.push_back(node->input(at.first_weight + i));
    for (int i = 0; p.attributes.bias && i < int(p.attributes.num_weights); ++i) p.biases.push_back(node->input(at.first_bias + i));
    return p;
  }

  Value emit(Graph& graph) const {
    FusedLinear a = attributes;
    a.num_weights = int64_t(weights.size());
    a.bias = !biases.empty(), a.norm_bias = bool(norm_bias), a.residual = bool(residual);
    std::vector<Value> operands{x};
    for (Value v : {norm_weight, norm_bias})
      if (v) operands.push_back(v);
    operands.insert(operands.end(), weights.begin(), weights.end());
    operands.insert(operands.end(), biases.begin(), biases.end());
    if (residual) operands.push_back(residual);
    return graph.emit("fused_linear", a, std::move(operands));
  }
};

// Emits `parts` in place of `old`, whose readers then read the new value. Returns the new node.
Node* replace(Graph& graph, Node& old, const Parts& parts) {
  graph.insert_before(&old);
  const Value y = parts.emit(graph);
  graph.insert_before(nullptr);
  graph.replace_all_uses(old.output(), y);
  graph.erase(old);
  return y.producer();
}

std::vector<Node*> linears_of(const Graph& graph) {
  std::vector<Node*> linears = graph.nodes();
  std::erase_if(linears, [](const Node* node) { return !is_op(node, "linear") && !is_op(node, "fused_linear"); });
  return linears;
}

std::optional<FusedLinear::Activation> activation_of(const Node* node) {
  if (is_op(node, "silu")) return FusedLinear::Activation::kSilu;
  if (is_op(node, "relu")) return FusedLinear::Activation::kRelu;
  if (is_op(node, "gelu")) return node->attributes_as<Gelu>().tanh ? FusedLinear::Activation::kGeluTanh : FusedLinear::Activation::kGelu;
  return std::nullopt;
}

// act(linear(x, gate)), read by nobody else.
Node* activated_linear(Value value) {
  if (!has_one_reader(value) || !activation_of(value.producer())) return nullptr;
  const Value inner = value.producer()->input(0);
  return has_one_reader(inner) ? producer_if(inner, "linear") : nullptr;
}

bool all_known(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_known_at_load(); });
}

}  // namespace

void fuse_gated_mlp(Graph& graph, const CompileOptions&) {
  for (Node* product : graph.nodes()) {
    if (!is_op(product, "mul") || product->input(0) == product->input(1)) continue;
    for (int side : {0, 1}) {
      const Value gated = product->input(side), other = product->input(1 - side);
      Node* gate = activated_linear(gated);
      Node* up = has_one_reader(other) ? producer_if(other, "linear") : nullptr;
      if (!gate || !up || gate == up || gate->input(0) != up->input(0) || gate->input(1).shape() != up->input(1).shape()) continue;
      if (gate->inputs().size() != up->inputs().size() || !all_known({gate->input(1), up->input(1)})) continue;
      Parts parts = *Parts::from(gate), second = *Parts::from(up);
      parts.weights.push_back(second.weights[0]);
      parts.biases.insert(parts.biases.end(), second.biases.begin(), second.biases.end());
      parts.attributes.gated = true;
      parts.attributes.activation = *activation_of(gated.producer());
      Node* activation = gated.producer();
      replace(graph, *product, parts);
      for (Node* dead : {activation, gate, up}) graph.erase(*dead);
      break;
    }
  }
}

void merge_linears(Graph& graph, const CompileOptions&) {
  std::map<std::pair<std::string, size_t>, std::vector<Node*>> groups;  // by input and number of operands, in order
  for (Node* node : graph.nodes()) {
    const std::vector<Value>& operands = node->inputs();
    if (!is_op(node, "linear") || !all_known({operands.begin() + 1, operands.end()})) continue;
    std::vector<Node*>& group = groups[{operands[0].name(), operands.size()}];
    const auto is_there = [&](Value v) { return group.empty() || !v.producer() || graph.is_before(*v.producer(), *group[0]); };
    if (std::all_of(operands.begin() + 1, operands.end(), is_there)) group.push_back(node);
  }
  for (const auto& [key, linears] : groups) {
    if (linears.size() < 2 || linears.size() > 64) continue;
    Parts parts{.x = linears[0]->input(0)};
    for (Node* node : linears) {
      parts.weights.push_back(node->input(1));
      if (node->inputs().size() == 3) parts.biases.push_back(node->input(2));
    }
    graph.insert_before(linears[0]);
    const Value merged = parts.emit(graph);
    int64_t begin = 0;
    for (Node* node : linears) {
      const int64_t width = node->input(1).shape()[0].value();
      const Value part = graph.emit("slice", Slice{.axis = -1, .begin = begin, .end = begin + width}, {merged});
      graph.replace_all_uses(node->output(), part);
      begin += width;
    }
    graph.insert_before(nullptr);
    for (Node* node : linears) graph.erase(*node);
  }
}

namespace {

// One step of what follows a linear: bias, activation, residual. Returns the node that stands for both, null when nothing was taken in.
Node* take_in_reader(Graph& graph, Node& linear) {
  std::optional<Parts> parts = Parts::from(&linear);
  const Value y = linear.output();
  if (!parts || !all_known(parts->weights) || !has_one_reader(y) || parts->residual || y.is_known_at_load()) return nullptr;
  Node& reader = *y.users()[0];
  if (const auto activation = activation_of(&reader); activation && parts->attributes.activation == FusedLinear::Activation::kNone) {
    parts->attributes.activation = *activation;
  } else if (is_op(&reader, "add") && reader.input(0) != reader.input(1)) {
    const Value other = reader.input(reader.input(0) == y ? 1 : 0);
    const Dim width = y.shape()[-1];
    if (reader.output().type() != y.type()) return nullptr;  // a sum with a wider type
    if (other.is_known_at_load() && other.shape() == Shape{width} && parts->biases.empty() && parts->weights.size() == 1 &&
        parts->attributes.activation == FusedLinear::Activation::kNone) {
      parts->biases = {other};
    } else if (other.type() == y.type() && !other.is_known_at_load()) {
      parts->residual = other;
    } else {
      return nullptr;
    }
  } else {
    return nullptr;
  }
  // At the reader's place, where the residual surely exists.
  Node* both = replace(graph, reader, *parts);
  graph.erase(linear);
  return both;
}

void take_in_norm(Graph& graph, Node& linear) {
  std::optional<Parts> parts = Parts::from(&linear);
  if (!parts || !all_known(parts->weights) || parts->attributes.norm != FusedLinear::Norm::kNone || !has_one_reader(parts->x)) return;
  Node* norm = parts->x.producer();
  if (is_op(norm, "rms_norm") && norm->attributes_as<RmsNorm>().weight_offset == 0) {
    parts->attributes.norm = FusedLinear::Norm::kRms;
    parts->attributes.eps = norm->attributes_as<RmsNorm>().eps;
  } else if (is_op(norm, "layer_norm") && norm->inputs().size() >= 2 && norm->attributes_as<LayerNorm>().weight_offset == 0) {
    parts->attributes.norm = FusedLinear::Norm::kLayer;
    parts->attributes.eps = norm->attributes_as<LayerNorm>().eps;
    if (norm->inputs().size() == 3) parts->norm_bias = norm->input(2);
  } else {
    return;
  }
  parts->norm_weight = norm->input(1);
  parts->x = norm->input(0);
  replace(graph, linear, *parts);
  graph.erase(*norm);
}

}  // namespace

void fuse_linear(Graph& graph, const CompileOptions&) {
  for (Node* linear : linears_of(graph))
    while (linear) linear = take_in_reader(graph, *linear);
  for (Node* linear : linears_of(graph)) take_in_norm(graph, *linear);
}

}  // namespace headrace
