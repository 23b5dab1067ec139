#include "random_graphs/leaf_data.h"

#include <cmath>

#include "core/blocks.h"
#include "lowering/symbols.h"
#include "ops/reference.h"
#include "random_graphs/random.h"

namespace headrace::fuzzing {
namespace {

uint64_t hash(const std::string& name) {  // FNV-1a: the same everywhere
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : name) h = (h ^ uint8_t(c)) * 0x100000001b3u;
  return h;
}

float element(const std::string& name, Random& random) {
  const auto begins = [&](const char* word) { return name.rfind(word, 0) == 0; };
  const float value = float(random.uniform(-2, 2));
  if (begins("mask")) return random.chance(1.0 / 3) ? -INFINITY : 0.0f;
  if (begins("positive")) return 0.25f + (value + 2) * 1.75f / 4;
  if (begins("odd") && random.chance(0.125)) return random.pick({0.0f, INFINITY, -INFINITY, NAN});
  return value;
}

}  // namespace

HostTensor leaf_data(const std::string& name, DType dtype, const Sizes& sizes, uint64_t seed) {
  HostTensor tensor(dtype, sizes);
  Random random(seed ^ hash(name));
  const auto count = size_t(sizes.numel());
  if (is_float(dtype) || is_block(dtype)) {
    std::vector<float> values(count);
    for (float& v : values) v = element(name, random);
    write_floats(tensor, values);
  } else {
    std::vector<int64_t> values(count);
    const bool index = name.rfind("index", 0) == 0;
    for (int64_t& v : values) v = dtype == DType::kBool ? random.below(2) : index ? random.between(-2, 19) : random.below(8);
    write_integers(tensor, values);
  }
  return tensor;
}

Tensors leaf_data(const Graph& graph, Leaf kind, const SymbolValues& symbols, uint64_t seed) {
  Tensors tensors;
  for (const Value& leaf : graph.leaves(kind))
    tensors.emplace(leaf.name(), leaf_data(leaf.name(), leaf.dtype(), evaluate(leaf.shape(), symbols), seed));
  return tensors;
}

}  // namespace headrace::fuzzing
