// Any text is a program that an engine file may hold and that serves a request, or an Error; what runs stays inside its memory.
// Programs whose values are large are left out: they are slow, and no memory is risked by them.
#include <unistd.h>

#include <filesystem>

#include "api/load.h"
#include "core/dtype.h"
#include "core/error.h"
#include "headrace/engine.h"
#include "ops/ops.h"
#include "weights/weight_source.h"

namespace {

using namespace headrace;

constexpr int64_t kMostBytes = 1 << 20;  // of one value, at symbols of kSymbol
constexpr int64_t kSymbol = 40;

bool is_small(const TensorType& type) {
  std::vector<std::string> names;
  for (const Dim& d : type.shape.dims()) d.collect_symbols(names);
  SymbolValues symbols;
  for (const std::string& name : names) symbols[name] = kSymbol;
  std::vector<int64_t> sizes;
  for (const Dim& d : type.shape.dims()) sizes.push_back(d.evaluate(symbols));
  const std::optional<int64_t> bytes = checked_bytes(type.dtype, sizes);
  return !bytes || *bytes <= kMostBytes;  // what is impossible is for the program to find out
}

bool is_small(const Graph& graph) {
  if (graph.num_nodes() > 200) return false;
  for (Leaf kind : {Leaf::kInput, Leaf::kParameter, Leaf::kState, Leaf::kConstant})
    for (const Value& v : graph.leaves(kind))
      if (!is_small(v.type())) return false;
  for (const Node* node : graph.nodes())
    for (const Value& v : node->outputs())
      if (!is_small(v.type())) return false;
  return true;
}

HostTensor some_values(const TensorType& type) {
  Sizes sizes;
  for (const Dim& d : type.shape.dims()) sizes.push_back(d.value());
  HostTensor tensor(type.dtype, sizes);
  auto* bytes = tensor.as<uint8_t>();
  // Small floats of every type: no exponent is large, whatever byte begins an element.
  for (int64_t i = 0; i < tensor.view().bytes(); ++i) bytes[i] = uint8_t(i * 37 % 59);
  return tensor;
}

int64_t vocabulary(const Graph& graph) {
  for (const Graph::Output& output : graph.outputs())
    if (output.name == "logits" && output.value.shape().rank() == 2 && output.value.shape()[1].is_constant())
      return output.value.shape()[1].value();
  return 50;
}

// A file that goes with its owner; what is mapped of it stays.
struct ScratchFile {
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("program_fuzz.{}.engine", ::getpid())).string();
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

Engine through_a_file(const Engine& engine) {
  const ScratchFile file;
  write_engine(engine, file.path, WeightsMode::kEmbed);
  return read_engine(file.path);
}

void serve(Graph graph) {
  std::map<std::string, HostTensor> weights;
  for (const Value& p : graph.leaves(Leaf::kParameter)) weights.emplace(p.name(), some_values(p.type()));
  const int64_t vocab_size = vocabulary(graph);
  Engine engine{.origin = "fuzz", .program = std::move(graph), .vocab_size = vocab_size, .max_positions = 64};
  engine.weights = memory_weights(std::move(weights));
  const LoadOptions options{.num_threads = 1, .context = 40};
  const std::unique_ptr<Executor> executor = make_executor(through_a_file(engine), nullptr, options);
  for (const std::vector<int32_t>& prompt :
       {std::vector<int32_t>{1}, std::vector<int32_t>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}}) {
    const RequestId id = executor->enqueue({.token_ids = prompt, .max_tokens = 2});
    executor->await(id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    Graph graph = Graph::parse({reinterpret_cast<const char*>(data), size}, builtin_ops());
    if (is_small(graph)) serve(std::move(graph));
  } catch (const Error&) {
  }
  return 0;
}
