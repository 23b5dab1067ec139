// A model family, a format of its own for the weights, and a kernel for one of Headrace's own ops.
//
// The family "steps": after token t comes t + step. The format: a file that begins with "steps", then the vocabulary and the step.
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "headrace/plugin.hpp"

namespace {

using namespace headrace::plugin;

// The number behind "name": in a JSON text of numbers.
int64_t number_in(const std::string& json, const std::string& name) {
  const size_t at = json.find("\"" + name + "\"");
  if (at == std::string::npos) throw Error(HEADRACE_INVALID_ARGUMENT, "config.json: '" + name + "' is missing");
  return std::atoll(json.c_str() + json.find(':', at) + 1);
}

// logits = relu(embed[token]) head^T
ModelInfo build_steps(Graph& graph, const std::string& config) {
  const int64_t vocab = number_in(config, "vocab_size");
  const Dim tokens = graph.dim("tokens"), rows = graph.dim("rows"), size = graph.number(vocab);
  const Value ids = graph.input("tokens", {HEADRACE_I32, {tokens}}), wanted = graph.input("logit_rows", {HEADRACE_I32, {rows}});
  const Value embedded = graph.emit("embedding", {ids, graph.parameter("embed.weight", {size, size})});
  const Value chosen = graph.emit("index_select", {{"axis", 0}}, {graph.emit("relu", {embedded}), wanted});
  graph.mark_output(graph.emit("linear", {chosen, graph.parameter("head.weight", {size, size})}), "logits");
  if (graph.has_weight("bias.weight")) throw Error(HEADRACE_UNSUPPORTED, "a bias is more than this family knows");
  return {false, vocab, 64};
}

class StepsFile {
 public:
  static bool probe(const std::string& path) {
    std::string word;
    std::ifstream(path) >> word;
    return word == "steps";
  }
  explicit StepsFile(const std::string& path) {
    std::string word;
    std::ifstream file(path);
    if (!(file >> word >> vocab_ >> step_) || vocab_ < 1 || vocab_ > 1000)
      throw Error(HEADRACE_INVALID_ARGUMENT, "two numbers are wanted behind 'steps'");
    config_ = "{\"model_type\": \"steps\", \"vocab_size\": " + std::to_string(vocab_) + "}";
    tensors_ = {{"embed.weight", HEADRACE_F32, {vocab_, vocab_}}, {"head.weight", HEADRACE_F32, {vocab_, vocab_}}};
  }
  const std::string& config() const { return config_; }
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  void read(size_t index, void* to, size_t bytes) const {
    std::memset(to, 0, bytes);
    float* matrix = static_cast<float*>(to);
    for (int64_t t = 0; t < vocab_; ++t)
      if (index == 0) matrix[t * vocab_ + t] = 1;
      else matrix[(t + step_) % vocab_ * vocab_ + t] = 8;
  }

 private:
  std::string config_;
  std::vector<StoredTensor> tensors_;
  int64_t vocab_ = 0, step_ = 0;
};

// A relu that also adds a hundredth, so that its results tell who made them.
class TellingRelu {
 public:
  explicit TellingRelu(const KernelRequest&) {}
  void run(const Launch& launch) const {
    const Tensor x = launch.input(0), y = launch.output(0);
    const auto [begin, end] = launch.share(x.numel());
    for (int64_t i = begin; i < end; ++i) y.as<float>()[i] = (x.as<float>()[i] > 0 ? x.as<float>()[i] : 0) + 0.01f;
  }
};

}  // namespace

extern "C" uint32_t headrace_plugin_abi_version(void) { return HEADRACE_PLUGIN_ABI; }

extern "C" headrace_status headrace_plugin_init(headrace_context* context, headrace_registrar* registrar) {
  return init(context, registrar, [](Registrar& to) {
    to.describe("own_model", "0.3");
    to.add(Family{"steps", build_steps});
    to.add_format<StepsFile>("steps");
    to.add_kernel<TellingRelu>(
        {"relu", "telling", HEADRACE_CPU, 0, [](const KernelRequest& request) { return request.call().input(0).dtype == HEADRACE_F32; }});
  });
}
