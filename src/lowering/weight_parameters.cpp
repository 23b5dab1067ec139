#include "lowering/weight_parameters.h"

#include "core/error.h"

namespace headrace {

WeightParameters::WeightParameters(const Graph& program, std::shared_ptr<const WeightSource> weights) : weights_(std::move(weights)) {
  std::vector<DeclaredWeight> declared;
  for (const Value& p : program.leaves(Leaf::kParameter)) declared.push_back({p.name(), p.shape().sizes(), p.dtype()});
  if (declared.empty()) return;
  if (!weights_) invalid("the program has {} parameters, and no weights were given", declared.size());
  check_weights(declared, *weights_, "the program", "A program takes weights of the names, sizes and types that it was built for.");
}

Constant WeightParameters::get(const std::string& path) {
  const Tensor tensor = weights_->read(path);
  std::shared_ptr<const void> owner = weights_->owner(path);
  if (!owner) owner = weights_;
  return {tensor, std::move(owner), [weights = weights_, path] { weights->release(path); }};
}
void WeightParameters::done_with(const std::string& path) { weights_->release(path); }

}  // namespace headrace
