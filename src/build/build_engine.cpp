#include <algorithm>

#include "build/family.h"
#include "build/weight_dtype.h"
#include "compiler/plugin_passes.h"
#include "core/context.h"
#include "core/json.h"
#include "headrace/build.h"
#include "ops/cast/cast.h"
#include "plugin/parts.h"
#include "weights/checkpoint.h"
#include "weights/random_weights.h"

namespace headrace {
namespace {

std::vector<DeclaredWeight> declared_weights(const Graph& graph) {
  std::vector<DeclaredWeight> declared;
  for (const Value& p : graph.leaves(Leaf::kParameter)) declared.push_back({p.name(), p.shape().sizes()});
  return declared;
}

DType stored_matrix_dtype(const Json& config, const std::string& path) {
  const std::string dtype = find_or<std::string>(config, "dtype", "bfloat16", path + ": config.json");
  if (dtype == "float32") return DType::kF32;
  if (dtype == "float16") return DType::kF16;
  return DType::kBF16;
}

// Matrices that are multiplied are converted from other float types; block types and tables that are only looked up stay.
void convert_matrices(Graph& graph, DType dtype) {
  const std::vector<Node*> nodes = graph.nodes();
  for (Node* node : nodes) {
    if (node->op().name != "linear") continue;
    const Value weight = node->input(1);
    if (!is_float(weight.dtype()) || weight.dtype() == dtype) continue;
    graph.insert_before(node);
    graph.set_input(*node, 1, graph.emit("cast", Cast{.dtype = dtype}, {weight}));
  }
  graph.insert_before(nullptr);
}

// From the model as its author wrote it to the program.
Engine compile_engine(Graph graph, std::shared_ptr<const WeightSource> weights, const ModelInfo& info, WeightDType dtype,
                      const BuildOptions& options) {
  CompileOptions passes = with_plugin_passes(options.passes, options.plugins.get());
  if (dtype == WeightDType::kBF16) convert_matrices(graph, DType::kBF16);
  if (dtype == WeightDType::kF16) convert_matrices(graph, DType::kF16);
  passes.kv_cache = info.kind == ModelKind::kDecoder;
  compile(graph, passes);
  return {.origin = graph.name(),
          .program = std::move(graph),
          .kind = info.kind,
          .vocab_size = info.vocab_size,
          .max_positions = info.max_positions,
          .weights = std::move(weights),
          .plugins = options.plugins,
          .exact = dtype == WeightDType::kF32};
}

}  // namespace

WeightDType parse_weight_dtype(const std::string& dtype) {
  if (dtype == "auto") return WeightDType::kAuto;
  if (dtype == "fp32" || dtype == "float32") return WeightDType::kF32;
  if (dtype == "bf16" || dtype == "bfloat16") return WeightDType::kBF16;
  if (dtype == "fp16" || dtype == "float16" || dtype == "half") return WeightDType::kF16;
  invalid("dtype '{}' is not known; wanted auto, fp32, bf16 or fp16", printable(dtype));
}

Engine build_engine(const std::string& path, const BuildOptions& options) {
  const WeightDType dtype = parse_weight_dtype(options.dtype);
  const Plugins* plugins = options.plugins.get();
  Checkpoint checkpoint = open_checkpoint(path, formats_of(plugins));
  // A family knows no paths: what it says about the configuration gets one here.
  const Family family = with_context(path, [&] { return find_family(checkpoint.config, plugins); });
  std::shared_ptr<const WeightSource> weights = options.random_weights ? nullptr : checkpoint.weights;
  if (!options.random_weights) checkpoint.require_weights();

  Graph graph(ops_of(plugins), family.model_type);
  const DType random_dtype = dtype == WeightDType::kF32   ? DType::kF32
                             : dtype == WeightDType::kF16 ? DType::kF16
                                                          : stored_matrix_dtype(checkpoint.config, path);
  const nn::StoredTypes stored = [&](const std::string& name) -> std::optional<TensorType> {
    if (!weights) return std::nullopt;
    const std::optional<StoredType> found = weights->find(name);
    return found ? std::optional(TensorType{found->dtype, {}}) : std::nullopt;
  };
  const ModelInfo info = with_context(path, [&] { return family.define(graph, stored, checkpoint.config); });
  const std::vector<DeclaredWeight> declared = declared_weights(graph);
  if (options.random_weights) {
    weights = random_weights(declared, {.seed = *options.random_weights, .matrix_dtype = random_dtype});
    for (const Value& p : graph.leaves(Leaf::kParameter)) graph.set_type(p, {weights->find(p.name())->dtype, p.shape()});
    graph.infer_types();
  } else {
    check_weights(declared, *weights);
  }
  Engine engine = compile_engine(std::move(graph), std::move(weights), info, dtype, options);
  engine.origin = path;
  engine.config = text_of(checkpoint.config);
  engine.generation = text_of(checkpoint.generation);
  engine.pooling = text_of(checkpoint.pooling);
  engine.text = std::move(checkpoint.text);
  return engine;
}

Engine build_engine(Graph model, std::shared_ptr<const WeightSource> weights, const ModelInfo& info, TextFiles text,
                    const BuildOptions& options) {
  const WeightDType dtype = parse_weight_dtype(options.dtype);
  check_info(model, info);
  if (weights) check_weights(declared_weights(model), *weights);
  Engine engine = compile_engine(std::move(model), std::move(weights), info, dtype, options);
  engine.text = std::move(text);
  return engine;
}

std::shared_ptr<const WeightSource> random_weights(const Graph& graph, uint64_t seed) {
  std::vector<DeclaredWeight> declared = declared_weights(graph);
  for (DeclaredWeight& weight : declared) weight.dtype = graph.find(Leaf::kParameter, weight.name).dtype();
  return random_weights(std::move(declared), {.seed = seed});
}

}  // namespace headrace
