#include <algorithm>

#include "core/error.h"
#include "headrace/graph.h"

namespace headrace {

void OpCall::reject(const std::string& message) const {
  std::string types;
  for (const TensorType& t : inputs) types += (types.empty() ? "" : ", ") + t.to_string();
  invalid("{}({}): {}", op.name, types, message);
}

void OpRegistry::add(OpDef op) {
  if (op.name.empty() || !op.infer) invalid("op '{}': an op needs a name and a shape rule", op.name);
  std::string name = op.name;
  if (!ops_.emplace(name, std::make_unique<OpDef>(std::move(op))).second) invalid("op '{}' is already registered", name);
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const auto it = ops_.find(std::string(name));
  return it == ops_.end() ? nullptr : it->second.get();
}

std::vector<std::string> OpRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, op] : ops_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace headrace
