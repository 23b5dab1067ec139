#include "engine/inspect.h"

#include <set>

#include "core/json.h"

namespace headrace {

std::vector<std::string> plugins_of(const Graph& program) {
  std::set<std::string> names;
  for (const Node* node : program.nodes())
    if (!node->op().plugin.empty()) names.insert(node->op().plugin);
  return {names.begin(), names.end()};
}

DType kv_cache_dtype(const Engine& engine) {
  DType dtype = DType::kF32;
  if (engine.exact) return dtype;
  for (const Value& p : engine.program.leaves(Leaf::kParameter)) {
    if (p.shape().rank() != 2 || p.dtype() == DType::kF32) continue;
    if (p.dtype() != DType::kBF16) return DType::kF16;
    dtype = DType::kBF16;
  }
  return dtype;
}

int64_t kv_bytes_per_token(const Engine& engine) {
  Dim bytes = 0;
  for (const Value& kv : engine.program.leaves(Leaf::kState)) {  // (num_blocks, 2, kv_heads, block_tokens, head_dim)
    if (kv.shape().rank() != 5) invalid("{}: the cache '{}' is {}, five axes are wanted", engine.origin, kv.name(), kv.type().to_string());
    bytes = bytes + kv.shape()[2] * kv.shape()[4] * Dim(2 * info(kv_cache_dtype(engine)).block_bytes);
  }
  return bytes.value();
}

EngineInfo inspect(const Engine& engine) {
  EngineInfo result{.num_nodes = engine.program.num_nodes(), .kv_bytes_per_token = kv_bytes_per_token(engine)};
  const Json config = parse_json(engine.config, engine.origin + ": config");
  if (config.is_object()) result.model_type = find_or<std::string>(config, "model_type", "", engine.origin + ": config");
  for (const Value& p : engine.program.leaves(Leaf::kParameter)) {
    const int64_t n = p.shape().numel().value(), bytes = storage_bytes(p.dtype(), n);
    result.num_parameters += n, result.weight_bytes += bytes;
    EngineInfo::Weights& same = result.dtypes[p.dtype()];
    same.tensors += 1, same.parameters += n, same.bytes += bytes;
  }
  result.plugins = plugins_of(engine.program);
  return result;
}

}  // namespace headrace
