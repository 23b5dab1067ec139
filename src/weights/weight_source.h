// Where the values of a model's parameters come from: files, memory or chance; always by name.
#pragma once

#include <mutex>

#include "headrace/types.h"

namespace headrace {

struct StoredType {
  DType dtype = DType::kF32;
  Sizes sizes;
};

// The part of a file that holds a tensor, for engines that refer to weights instead of holding them.
struct FileRange {
  std::string path;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// All functions may be called from several threads at once.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // For errors: the file or folder.
  virtual std::string describe() const = 0;
  virtual std::vector<std::string> names() const = 0;
  // Nothing when there is no such tensor. Throws Error(kUnsupported) when its element type is one that Headrace does not read.
  virtual std::optional<StoredType> find(const std::string& name) const = 0;
  // A contiguous tensor, valid until it is released or the source ends; mostly in place in a mapped file. Throws Error(kNotFound).
  virtual Tensor read(const std::string& name) const = 0;
  // Keeps the bytes of a tensor that was read, also beyond its release; null: they are there as long as the source.
  virtual std::shared_ptr<const void> owner(const std::string&) const { return nullptr; }
  // Says that a tensor is not needed for now, so that its memory can be used otherwise. It can be read again.
  virtual void release(const std::string&) const {}
  // Nothing when the tensor is not in a file, or not aligned there for its type.
  virtual std::optional<FileRange> locate(const std::string&) const { return std::nullopt; }
};

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

// Tensors that a program has made. The tensors' owners are kept.
std::shared_ptr<WeightSource> memory_weights(std::map<std::string, HostTensor> tensors);

// `source` under other names: new name -> name in the source. What the map does not mention is hidden.
std::shared_ptr<WeightSource> renamed_weights(std::shared_ptr<const WeightSource> source, std::map<std::string, std::string> names);

// ---------------------------------------------------------------------------------------------------------------- declared and found

// A parameter of a model, as the model names it.
struct DeclaredWeight {
  std::string name;
  Sizes sizes;
};

struct WeightProblem {
  enum class Kind { kMissing, kExtra, kMisshapen, kUnreadable };
  Kind kind;
  std::string text;  // "model.norm.weight: missing; the model wants [576]"
};

// Compares what a model declares with what there is. Extra tensors that no result depends on (masks, position buffers, a copy of tied
// embeddings, task heads of an encoder) are no problem.
std::vector<WeightProblem> find_weight_problems(std::span<const DeclaredWeight> declared, const WeightSource& source);
// Throws one Error(kInvalidArgument) that lists every problem, if there is one.
void check_weights(std::span<const DeclaredWeight> declared, const WeightSource& source);

}  // namespace headrace
