#include "build/builder.h"

#include "core/context.h"
#include "models/models.h"
#include "ops/cast/cast.h"
#include "ops/ops.h"
#include "weights/checkpoint.h"
#include "weights/random_weights.h"

namespace headrace {
namespace {

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

}  // namespace

Engine build_engine(const std::string& path, const BuilderOptions& options) {
  Checkpoint checkpoint = open_checkpoint(path);
  // A family knows no paths: what it says about the configuration gets one here.
  const ModelFamily& family = *with_context(path, [&] { return &find_model_family(checkpoint.config); });
  std::shared_ptr<const WeightSource> weights = options.random_weights ? nullptr : checkpoint.weights;
  if (!options.random_weights) checkpoint.require_weights();

  Graph graph(builtin_ops(), std::string(family.model_type));
  const DType random_dtype = options.dtype == WeightDType::kF32   ? DType::kF32
                             : options.dtype == WeightDType::kF16 ? DType::kF16
                                                                  : stored_matrix_dtype(checkpoint.config, path);
  const nn::StoredTypes stored = [&](const std::string& name) -> std::optional<TensorType> {
    if (!weights) return std::nullopt;
    const std::optional<StoredType> found = weights->find(name);
    return found ? std::optional(TensorType{found->dtype, {}}) : std::nullopt;
  };
  const ModelInfo info = with_context(path, [&] { return family.build(nn::Scope(graph, stored, DType::kF32), checkpoint.config); });
  std::vector<DeclaredWeight> declared;
  for (const Value& p : graph.leaves(Leaf::kParameter)) declared.push_back({p.name(), p.shape().sizes()});
  if (options.random_weights) {
    weights = random_weights(declared, {.seed = *options.random_weights, .matrix_dtype = random_dtype});
    for (const Value& p : graph.leaves(Leaf::kParameter)) graph.set_type(p, {weights->find(p.name())->dtype, p.shape()});
    graph.infer_types();
  } else {
    check_weights(declared, *weights);
  }
  if (options.dtype == WeightDType::kBF16) convert_matrices(graph, DType::kBF16);
  if (options.dtype == WeightDType::kF16) convert_matrices(graph, DType::kF16);

  CompileOptions passes = options.passes;
  passes.kv_cache = info.kind == ModelKind::kDecoder;
  compile(graph, passes);
  return {.origin = path,
          .program = std::move(graph),
          .kind = info.kind == ModelKind::kDecoder ? "decoder" : "encoder",
          .vocab_size = info.vocab_size,
          .max_positions = info.max_positions,
          .config = std::move(checkpoint.config),
          .generation = std::move(checkpoint.generation),
          .pooling = std::move(checkpoint.pooling),
          .text = std::move(checkpoint.text),
          .weights = std::move(weights),
          .exact = options.dtype == WeightDType::kF32};
}

}  // namespace headrace
