// What a model declares against what a source of weights has.
#pragma once

#include <mutex>

#include "headrace/weights.h"

namespace headrace {

// What sources have in common: the keys of a map by name, and the error of a name that is not there.
template <typename Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}
[[noreturn]] void fail_no_tensor(const WeightSource& source, std::string_view name);

// Whether elements of that type can be read where they are. What blocks hold is at most two bytes wide.
bool is_aligned(const void* data, DType dtype);

// A parameter of a model, as the model names it.
struct DeclaredWeight {
  std::string name;
  Sizes sizes;
  std::optional<DType> dtype = {};  // absent: as it is stored
};

struct WeightProblem {
  enum class Kind { kMissing, kExtra, kMisfit, kUnreadable };
  Kind kind;
  std::string text;  // "model.norm.weight: missing; the model wants f32[576]"
};

// Compares what a model declares with what there is. Extra tensors that no result depends on (masks, position buffers, a copy of tied
// embeddings, task heads of an encoder) are no problem.
std::vector<WeightProblem> find_weight_problems(std::span<const DeclaredWeight> declared, const WeightSource& source);
// Throws one Error(kInvalidArgument) that lists every problem, if there is one. `model` and `hint` are its last words on the first line and
// its last line.
void check_weights(
    std::span<const DeclaredWeight> declared, const WeightSource& source,
    std::string_view model = "the model that its configuration describes",
    std::string_view hint = "Is the configuration from a model of another size or kind, or is a file of the checkpoint missing?");

}  // namespace headrace
