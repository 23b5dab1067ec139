#include "weights/weight_source.h"

#include <unordered_set>

#include "core/error.h"
#include "weights/tensor_names.h"

namespace headrace {
namespace {

class MemoryWeights : public WeightSource {
 public:
  explicit MemoryWeights(std::map<std::string, HostTensor> tensors) : tensors_(std::move(tensors)) {}

  std::string describe() const override { return "weights in memory"; }
  std::vector<std::string> names() const override { return keys_of(tensors_); }
  std::optional<StoredType> find(const std::string& name) const override {
    const auto it = tensors_.find(name);
    if (it == tensors_.end()) return std::nullopt;
    return StoredType{it->second.view().dtype, it->second.view().sizes};
  }
  Tensor read(const std::string& name) const override {
    const auto it = tensors_.find(name);
    if (it == tensors_.end()) fail_no_tensor(*this, name);
    return it->second.view();
  }

 private:
  std::map<std::string, HostTensor> tensors_;
};

class RenamedWeights : public WeightSource {
 public:
  RenamedWeights(std::shared_ptr<const WeightSource> source, std::map<std::string, std::string> names)
      : source_(std::move(source)), names_(std::move(names)) {}

  std::string describe() const override { return source_->describe(); }
  std::vector<std::string> names() const override { return keys_of(names_); }
  std::optional<StoredType> find(const std::string& name) const override {
    const auto it = names_.find(name);
    return it == names_.end() ? std::nullopt : source_->find(it->second);
  }
  Tensor read(const std::string& name) const override {
    const auto it = names_.find(name);
    if (it == names_.end()) fail_no_tensor(*this, name);
    return source_->read(it->second);
  }
  std::shared_ptr<const void> owner(const std::string& name) const override {
    const auto it = names_.find(name);
    return it == names_.end() ? nullptr : source_->owner(it->second);
  }
  void release(const std::string& name) const override {
    if (const auto it = names_.find(name); it != names_.end()) source_->release(it->second);
  }
  std::optional<FileRange> locate(const std::string& name) const override {
    const auto it = names_.find(name);
    return it == names_.end() ? std::nullopt : source_->locate(it->second);
  }

 private:
  std::shared_ptr<const WeightSource> source_;
  std::map<std::string, std::string> names_;
};

}  // namespace

void fail_no_tensor(const WeightSource& source, std::string_view name) {
  fail(ErrorCode::kNotFound, "{}: there is no tensor '{}'", source.describe(), printable(name));
}

bool is_aligned(const void* data, DType dtype) {
  const size_t alignment = is_block(dtype) ? 2 : size_t(info(dtype).block_bytes);
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

std::shared_ptr<WeightSource> memory_weights(std::map<std::string, HostTensor> tensors) {
  return std::make_shared<MemoryWeights>(std::move(tensors));
}

std::shared_ptr<WeightSource> renamed_weights(std::shared_ptr<const WeightSource> source, std::map<std::string, std::string> names) {
  return std::make_shared<RenamedWeights>(std::move(source), std::move(names));
}

namespace {

// The type is said where one is wanted.
std::string text_of(const StoredType& type, bool with_dtype) {
  return (with_dtype ? std::string(name(type.dtype)) : std::string()) + type.sizes.to_string();
}

std::optional<WeightProblem> find_problem(const DeclaredWeight& weight, const WeightSource& source) {
  using Kind = WeightProblem::Kind;
  const bool typed = weight.dtype.has_value();
  const std::string wanted = text_of({weight.dtype.value_or(DType::kF32), weight.sizes}, typed);
  try {
    const std::optional<StoredType> found = source.find(weight.name);
    if (!found) return WeightProblem{Kind::kMissing, fmt::format("{}: missing; the model wants {}", weight.name, wanted)};
    if (found->sizes == weight.sizes && found->dtype == weight.dtype.value_or(found->dtype)) return std::nullopt;
    return WeightProblem{Kind::kMisfit,
                         fmt::format("{}: the checkpoint has {}, the model wants {}", weight.name, text_of(*found, typed), wanted)};
  } catch (const Error& e) {
    return WeightProblem{Kind::kUnreadable, e.what()};
  }
}

}  // namespace

std::vector<WeightProblem> find_weight_problems(std::span<const DeclaredWeight> declared, const WeightSource& source) {
  std::vector<WeightProblem> problems;
  std::unordered_set<std::string> wanted;
  for (const DeclaredWeight& weight : declared) {
    if (!wanted.insert(weight.name).second) continue;  // a shared parameter
    if (std::optional<WeightProblem> problem = find_problem(weight, source)) problems.push_back(std::move(*problem));
  }
  for (const std::string& name : source.names()) {
    if (wanted.contains(name) || is_harmless_extra(name)) continue;
    problems.push_back({WeightProblem::Kind::kExtra, fmt::format("{}: not a parameter of this model", printable(name))});
  }
  return problems;
}

void check_weights(std::span<const DeclaredWeight> declared, const WeightSource& source, std::string_view model, std::string_view hint) {
  const std::vector<WeightProblem> problems = find_weight_problems(declared, source);
  if (problems.empty()) return;
  std::string text =
      fmt::format("{}: {} of its weights {} not fit {}", source.describe(), problems.size(), problems.size() == 1 ? "does" : "do", model);
  for (const WeightProblem& problem : problems) text += "\n  " + problem.text;
  invalid("{}\n{}", text, hint);
}

}  // namespace headrace
