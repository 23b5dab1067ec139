// A plugin that loads, and then does everything wrong that one can do.
#include <cmath>
#include <fstream>

#include "headrace/plugin.hpp"

namespace {

using namespace headrace::plugin;

// ---------------------------------------------------------------------------------------------------------------- ops

// Shape rules by what is asked for: {how="..."}. In C, so that none of it is caught on the way.
headrace_status infer_anyhow(headrace_context* context, void*, const headrace_call* call, headrace_type* outputs) {
  const char* how = "";
  if (context->host->attribute_string(context, call->attributes, "how", &how) != HEADRACE_OK) return HEADRACE_INTERNAL;
  const std::string word = how;
  outputs[0] = call->inputs[0];
  if (word == "high_rank") outputs[0].rank = 9;
  if (word == "no_size") outputs[0].dims[0] = nullptr;
  if (word == "no_type") outputs[0].dtype = 99;
  if (word == "negative") return context->host->dim_number(context, -3, &outputs[0].dims[0]);
  if (word == "raw") throw std::runtime_error("nobody caught this");
  if (word == "number") throw 42;
  if (word == "silent") return 77;
  if (word == "refuses") return context->host->fail(context, HEADRACE_INVALID_ARGUMENT, "not these");
  if (word == "wrong_kind") {
    int64_t value = 0;
    return context->host->attribute_int(context, call->attributes, "how", &value);
  }
  if (word == "unknown_name") {
    int64_t value = 0;
    return context->host->attribute_int(context, call->attributes, "nowhere", &value);
  }
  return HEADRACE_OK;
}
headrace_status copy(headrace_context*, void*, const headrace_call*, const headrace_tensor* inputs, const headrace_tensor* outputs) {
  std::memcpy(outputs[0].data, inputs[0].data, size_t(Tensor(inputs[0]).numel()) * sizeof(float));
  return HEADRACE_OK;
}

// Copies; fails on the thread that finds 13 where it reads, while the others wait for it.
class FailsAt13 {
 public:
  explicit FailsAt13(const KernelRequest&) {}
  void run(const Launch& launch) const {
    const Tensor x = launch.input(0);
    const auto [begin, end] = launch.share(x.numel());
    for (int64_t i = begin; i < end; ++i)
      if (x.as<float>()[i] == 13) throw std::domain_error("13 at " + std::to_string(i));
    launch.barrier();
    for (int64_t i = begin; i < end; ++i) launch.output(0).as<float>()[i] = x.as<float>()[i];
  }
};

class FailsToBeMade {
 public:
  explicit FailsToBeMade(const KernelRequest&) { throw Error(HEADRACE_OUT_OF_MEMORY, "no room for weights"); }
  void run(const Launch&) const {}
};

std::vector<Type> same(const Call& call) {
  if (call.attributes().get<double>("level") > 9) throw std::length_error("that level is too high for std::string");
  return {call.input(0)};
}
void copy_floats(const Call&, const Tensors& in, const Tensors& out) {
  std::memcpy(out[0].data, in[0].data, size_t(in[0].numel()) * sizeof(float));
}

// ---------------------------------------------------------------------------------------------------------------- a pass

// What it does is said by the name of an input of the graph.
void anything(Graph& graph) {
  const auto asked = [&](const char* name) { return bool(graph.find(HEADRACE_INPUT, name)); };
  const std::vector<Node> nodes = graph.nodes();
  if (asked("please_throw")) throw std::out_of_range("the pass has lost its way");
  if (asked("please_read_ahead")) graph.set_input(nodes.front(), 0, nodes.back().output());  // a node that reads what comes later
  if (asked("please_make_a_circle")) graph.replace_uses(nodes.front().output(), graph.emit("silu", {nodes.front().output()}));
  if (asked("please_change_types"))
    graph.replace_uses(nodes.front().output(), graph.emit("cast", {{"dtype", "i32"}}, {nodes.front().output()}));
  if (asked("please_erase_used")) graph.erase(nodes.front());
  if (asked("please_emit_nonsense")) graph.emit("matmul", {nodes.front().output()});
  if (asked("please_emit_unknown")) graph.emit("there_is_no_such_op", {nodes.front().output()});
  if (asked("please_emit_wrong_attribute")) graph.emit("softmax", {{"axis", "\"last\""}}, {nodes.front().output()});
  if (asked("please_drop_results"))
    for (const Node& node : nodes)
      if (node.is("relu")) graph.set_input(node, 7, node.input(0));
}

// ---------------------------------------------------------------------------------------------------------------- the rest

class Whims {
 public:
  Whims(const std::string& options, size_t) : options_(options) {
    if (options == "refuse") throw Error(HEADRACE_INVALID_ARGUMENT, "not with these options");
  }
  void process(const Logits& row) {
    if (options_ == "nan") row.logits[0] = std::nanf("");
    if (options_ == "nothing_left")
      for (size_t i = 0; i < row.vocab_size; ++i) row.logits[i] = -INFINITY;
    if (options_ == "fail_at_third" && row.num_tokens - row.num_prompt == 2) throw std::runtime_error("two tokens are enough");
  }

 private:
  std::string options_;
};

class StrangeFile {
 public:
  static bool probe(const std::string& path) { return path.size() > 8 && path.compare(path.size() - 8, 8, ".strange") == 0; }
  explicit StrangeFile(const std::string& path) {
    std::string how;
    std::ifstream(path) >> how;
    if (how == "throws") throw std::runtime_error("the file bites");
    if (how == "bad_config") config_ = "{";
    if (how == "high_rank") tensors_ = {{"w", HEADRACE_F32, {1, 1, 1, 1, 1, 1, 1, 1, 1}}};
    if (how == "no_type") tensors_ = {{"w", 99, {1}}};
    if (how == "negative") tensors_ = {{"w", HEADRACE_F32, {-1}}};
    if (how == "huge") tensors_ = {{"w", HEADRACE_F32, {INT64_MAX, 8}}};
    if (how == "twice") tensors_ = {{"w", HEADRACE_F32, {1}}, {"w", HEADRACE_F32, {1}}};
    if (how == "no_name") tensors_ = {{"", HEADRACE_F32, {1}}};
  }
  const std::string& config() const { return config_; }
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  void read(size_t, void*, size_t) const { throw std::runtime_error("there was nothing to read"); }

 private:
  std::string config_ = "{\"model_type\": \"strange\"}";
  std::vector<StoredTensor> tensors_;
};

}  // namespace

extern "C" uint32_t headrace_plugin_abi_version(void) { return HEADRACE_PLUGIN_ABI; }

extern "C" headrace_status headrace_plugin_init(headrace_context* context, headrace_registrar* registrar) {
  return init(context, registrar, [&](Registrar& to) {
    static const headrace_field how[] = {{"how", HEADRACE_FIELD_STRING, "\"\""}};
    headrace_op op{};
    op.struct_size = sizeof op, op.name = "anyhow", op.fields = how, op.num_fields = 1;
    op.min_inputs = op.max_inputs = op.num_outputs = 1;
    op.infer = infer_anyhow, op.reference = copy;
    check(context, context->host->register_op(context, registrar, &op));
    to.add(Op{"levelled", {{"level", HEADRACE_FIELD_FLOAT, "1"}}, 1, same, copy_floats});
    to.add(Op{"careful", {{"level", HEADRACE_FIELD_FLOAT, "1"}}, 1, same, copy_floats});
    to.add_kernel<FailsAt13>({"levelled", "fails_at_13"});
    to.add_kernel<FailsToBeMade>({"careful", "fails_to_be_made"});
    to.add(Pass{"anything", "", "canonicalize", anything});
    to.add_logits_processor<Whims>("whims");
    to.add_format<StrangeFile>("strange");
  });
}
