#include "engine/refit.h"

#include "core/error.h"
#include "weights/weight_source.h"

namespace headrace {

void require_weights(const Engine& engine) {
  if (engine.weights || engine.program.leaves(Leaf::kParameter).empty()) return;
  fail(ErrorCode::kUnsupported,
       "{}: is an engine without weights; name the checkpoint that they are in with --checkpoint PATH, or 'headrace refit' (in C++: refit)",
       engine.origin);
}

void check_fit(const Engine& engine, const WeightSource& weights) {
  std::vector<DeclaredWeight> declared;
  for (const Value& p : engine.program.leaves(Leaf::kParameter)) declared.push_back({p.name(), p.shape().sizes(), p.dtype()});
  check_weights(declared, weights, fmt::format("the program of {}", engine.origin),
                "An engine takes weights of the names, sizes and types that it was built for; for others build a new one.");
}

void refit(Engine& engine, std::shared_ptr<const WeightSource> weights) {
  if (!weights) invalid("{}: there are no weights to give it", engine.origin);
  check_fit(engine, *weights);
  engine.weights = std::move(weights);
}

}  // namespace headrace
