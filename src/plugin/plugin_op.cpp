#include "plugin/adapters.h"
#include "plugin/handles.h"
#include "plugin/plugin_attributes.h"

namespace headrace {
namespace {

// What the callbacks of one op share.
struct PluginOp {
  std::shared_ptr<const PluginPart<headrace_op>> part;
  std::string name;
  std::shared_ptr<const AttributeType> attributes;
  uint32_t num_outputs;

  const headrace_op& c() const { return part->c; }
  const PluginLibrary& library() const { return *part->library; }
  std::string what(const char* callback) const { return fmt::format("the {} of op '{}'", callback, name); }
  headrace_call call(const Attributes& given, std::span<const headrace_type> inputs, std::span<const headrace_type> outputs) const {
    return {.struct_size = sizeof(headrace_call),
            .op = name.c_str(),
            .attributes = to_c(&given),
            .inputs = inputs.data(),
            .num_inputs = uint32_t(inputs.size()),
            .outputs = outputs.data(),
            .num_outputs = uint32_t(outputs.size())};
  }
};

std::vector<TensorType> infer(const PluginOp& op, const OpCall& of) {
  const std::vector<headrace_type> inputs = to_c(of.inputs);
  const headrace_call call = op.call(of.attributes, inputs, {});
  std::vector<headrace_type> outputs(op.num_outputs);
  CallContext context;
  bool refused = false;
  call_plugin(op.library(), op.what("shape rule"), context, [&](headrace_context* c) {
    const headrace_status status = op.c().infer(c, op.c().user, &call, outputs.data());
    refused = status == HEADRACE_INVALID_ARGUMENT;  // of the operands: the error is theirs, not the plugin's
    return refused ? headrace_status{HEADRACE_OK} : status;
  });
  if (refused) of.reject(context.message.empty() ? "these operands do not fit" : context.message);
  std::vector<TensorType> types;
  for (const headrace_type& output : outputs) {
    try {
      types.push_back(type_of_c(output));
    } catch (const Error& e) {
      fail(ErrorCode::kInternal, "{}: {}: result {} is no type: {}", op.library().describe(), op.what("shape rule"), types.size(),
           e.what());
    }
  }
  return types;
}

void reference(const PluginOp& op, const OpCall& of, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  const std::vector<headrace_type> types = to_c(of.inputs);
  const headrace_call call = op.call(of.attributes, types, {});
  const std::vector<headrace_tensor> in = to_c(inputs), out = to_c(outputs);
  CallContext context;
  call_plugin(op.library(), op.what("reference"), context,
              [&](headrace_context* c) { return op.c().reference(c, op.c().user, &call, in.data(), out.data()); });
}

std::vector<Value> decompose(const PluginOp& op, Graph& graph, const Node& node, std::span<const Value> inputs) {
  const std::vector<TensorType> input_types = types_of(node.inputs()), output_types = types_of(node.outputs());
  const std::vector<headrace_type> in_types = to_c(std::span(input_types)), out_types = to_c(std::span(output_types));
  const headrace_call call = op.call(node.attributes(), in_types, out_types);
  std::vector<headrace_value*> in, out(op.num_outputs);
  for (const Value& v : inputs) in.push_back(to_c(v));
  CallContext context;
  const std::string what = op.what("decomposition");
  call_plugin(op.library(), what, context,
              [&](headrace_context* c) { return op.c().decompose(c, op.c().user, &call, to_c(&graph), in.data(), out.data()); });
  std::vector<Value> results;
  for (const headrace_value* v : out) {
    const TensorType& wanted = output_types[results.size()];
    if (!v || &of_c(v).graph() != &graph || of_c(v).type() != wanted)
      fail(ErrorCode::kInternal, "{}: {}: result {} is {}, {} is wanted", op.library().describe(), what, results.size(),
           v ? of_c(v).type().to_string() : "missing", wanted.to_string());
    results.push_back(of_c(v));
  }
  return results;
}

}  // namespace

OpDef adapt(std::shared_ptr<const PluginPart<headrace_op>> part) {
  const headrace_op& c = part->c;
  check_plugin_name(c.name, "an op");
  constexpr uint32_t kMost = 1024;
  if (c.min_inputs > c.max_inputs || c.max_inputs > kMost || c.num_outputs < 1 || c.num_outputs > kMost)
    invalid("op '{}': {} to {} operands and {} results", c.name, c.min_inputs, c.max_inputs, c.num_outputs);
  if (!c.infer || (!c.reference && !c.decompose)) invalid("op '{}': a shape rule is wanted, and a reference or a decomposition", c.name);
  if (c.num_fields && !c.fields) invalid("op '{}': its fields are missing", c.name);
  const auto op = std::make_shared<const PluginOp>(PluginOp{part, c.name, make_attribute_type({c.fields, c.num_fields}), c.num_outputs});
  OpDef def{.name = op->name, .attributes = op->attributes.get(), .min_inputs = int(c.min_inputs), .max_inputs = int(c.max_inputs)};
  def.infer = [op](const OpCall& call) { return infer(*op, call); };
  if (c.reference)
    def.reference = [op](const OpCall& call, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
      reference(*op, call, inputs, outputs);
    };
  if (c.decompose)
    def.decompose = [op](Graph& graph, const Node& node, std::span<const Value> inputs) { return decompose(*op, graph, node, inputs); };
  def.row_wise = c.flags & HEADRACE_OP_ROW_WISE;
  def.commutative = c.flags & HEADRACE_OP_COMMUTATIVE;
  def.plugin = part->library->name;
  return def;
}

}  // namespace headrace
