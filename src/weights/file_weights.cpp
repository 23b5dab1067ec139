#include "weights/file_weights.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "core/dtype.h"
#include "core/json.h"
#include "weights/checkpoint.h"
#include "weights/folder.h"
#include "weights/safetensors.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

class SafetensorsWeights : public WeightSource {
 public:
  SafetensorsWeights(std::string where, std::vector<SafetensorsFile> files) : where_(std::move(where)), files_(std::move(files)) {
    for (const SafetensorsFile& file : files_)
      for (const SafetensorsTensor& tensor : file.tensors()) {
        const auto [it, is_new] = places_.emplace(tensor.name, Place{&file, &tensor});
        if (!is_new) {
          invalid("{}: tensor '{}' is in {} too; delete the file that does not belong to the model", file.where(), printable(tensor.name),
                  it->second.file->where());
        }
      }
  }

  std::string describe() const override { return where_; }
  std::vector<std::string> names() const override { return keys_of(places_); }
  std::optional<StoredType> find(const std::string& name) const override {
    const auto it = places_.find(name);
    if (it == places_.end()) return std::nullopt;
    return StoredType{dtype(it->second), it->second.tensor->sizes};
  }
  Tensor read(const std::string& name) const override {
    const auto it = places_.find(name);
    if (it == places_.end()) fail_no_tensor(*this, name);
    const SafetensorsTensor& tensor = *it->second.tensor;
    const DType type = dtype(it->second);
    if (is_aligned(tensor.data.data(), type)) return Tensor::contiguous(tensor.data.data(), type, tensor.sizes);
    const std::lock_guard lock(mutex_);
    const auto [copy, is_new] = aligned_copies_.try_emplace(name, type, tensor.sizes);
    if (is_new) std::memcpy(copy->second.view().data, tensor.data.data(), tensor.data.size());
    return copy->second.view();
  }
  std::shared_ptr<const void> owner(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    const auto copy = aligned_copies_.find(name);
    return copy == aligned_copies_.end() ? nullptr : std::make_shared<HostTensor>(copy->second);
  }
  void release(const std::string& name) const override {
    const auto it = places_.find(name);
    if (it == places_.end()) return;
    it->second.file->release(*it->second.tensor);
    const std::lock_guard lock(mutex_);
    aligned_copies_.erase(name);
  }
  std::optional<FileRange> locate(const std::string& name) const override {
    const auto it = places_.find(name);
    if (it == places_.end() || !is_aligned(it->second.tensor->data.data(), dtype(it->second))) return std::nullopt;
    const auto& [file, tensor] = it->second;
    return FileRange{file->where(), file->offset_of(*tensor), tensor->data.size()};
  }

 private:
  struct Place {
    const SafetensorsFile* file;
    const SafetensorsTensor* tensor;
  };
  static DType dtype(const Place& place) {
    if (place.tensor->dtype) return *place.tensor->dtype;
    fail(ErrorCode::kUnsupported, "{}: tensor '{}' has dtype {}, which is not supported; wanted F32, F16, BF16, I64, I32, I8, U8 or BOOL",
         place.file->where(), printable(place.tensor->name), place.tensor->dtype_name);
  }

  std::string where_;
  std::vector<SafetensorsFile> files_;  // never changed: places_ points into it
  std::map<std::string, Place> places_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, HostTensor> aligned_copies_;  // of tensors that lie askew in their file
};

class GgufWeights : public WeightSource {
 public:
  explicit GgufWeights(std::shared_ptr<const GgufFile> file) : file_(std::move(file)) {}

  std::string describe() const override { return file_->where(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const GgufTensor& tensor : file_->tensors()) all.push_back(tensor.name);
    return all;
  }
  std::optional<StoredType> find(const std::string& name) const override {
    const GgufTensor* tensor = file_->find_tensor(name);
    if (!tensor) return std::nullopt;
    return StoredType{tensor->dtype, tensor->sizes};
  }
  Tensor read(const std::string& name) const override {
    const GgufTensor* tensor = file_->find_tensor(name);
    if (!tensor) fail_no_tensor(*this, name);
    return Tensor::contiguous(tensor->data.data(), tensor->dtype, tensor->sizes);
  }
  void release(const std::string& name) const override {
    if (const GgufTensor* tensor = file_->find_tensor(name)) file_->release(*tensor);
  }
  std::optional<FileRange> locate(const std::string& name) const override {
    const GgufTensor* tensor = file_->find_tensor(name);
    return tensor ? file_->locate(*tensor) : std::nullopt;
  }

 private:
  std::shared_ptr<const GgufFile> file_;
};

std::shared_ptr<WeightSource> shards(const std::string& where, const std::set<std::string>& paths) {
  std::vector<SafetensorsFile> files;
  for (const std::string& path : paths) files.push_back(SafetensorsFile::open(path));
  return std::make_shared<SafetensorsWeights>(where, std::move(files));
}

std::shared_ptr<WeightSource> indexed_weights(const fs::path& folder, const fs::path& index_path) {
  const std::string where = index_path.string();
  const Json index = parse_json_with_unique_keys(MappedFile::open(where)->text(), where);
  const Json weight_map = require<Json>(index, "weight_map", where);
  if (!weight_map.is_object()) invalid("{}: 'weight_map' is {}, wanted an object", where, weight_map.type_name());

  std::set<std::string> paths;
  std::string missing;
  for (const auto& [tensor, file] : weight_map.items()) {
    if (!file.is_string()) invalid("{}: tensor '{}' is in {}, wanted a file name", where, printable(tensor), printable(file.dump()));
    const fs::path shard = file.get<std::string>();
    if (shard.empty() || shard != shard.filename() || shard == ".." || shard == "." || shard.string().find('\0') != std::string::npos) {
      invalid("{}: tensor '{}' is in '{}', which is no plain file name; the index is refused", where, printable(tensor),
              printable(shard.string()));
    }
    const std::string path = (folder / shard).string();
    if (paths.insert(path).second && !is_there(path)) missing += (missing.empty() ? "" : ", ") + printable(shard.string());
  }
  if (!missing.empty()) fail(ErrorCode::kNotFound, "{}: the folder lacks shards that the index lists: {}. Fetch them", where, missing);

  std::shared_ptr<WeightSource> source = shards(folder.string(), paths);
  const std::vector<std::string> names = source->names();
  const std::set<std::string> found(names.begin(), names.end());
  for (const auto& [tensor, file] : weight_map.items())
    if (!found.contains(tensor)) missing += (missing.empty() ? "" : ", ") + printable(tensor);
  if (!missing.empty())
    fail(ErrorCode::kNotFound, "{}: no shard holds these tensors, which the index lists: {}. Fetch the shards again", where, missing);
  return source;
}

// The shards in a folder without an index: all of model-00001-of-0000N.safetensors.
std::set<std::string> listed_shards(const fs::path& folder) {
  std::set<std::string> paths;
  std::optional<std::string> total;
  for (const fs::path& entry : list_folder(folder)) {
    const std::string name = entry.filename().string();
    const size_t of = name.find("-of-");
    if (!name.starts_with("model-") || !name.ends_with(".safetensors") || of == std::string::npos) continue;
    paths.insert(entry.string());
    const std::string count = name.substr(of + 4, name.size() - of - 4 - std::strlen(".safetensors"));
    if (total.value_or(count) != count) invalid("{}: holds shards of two models: of {} and of {} parts", folder.string(), *total, count);
    total = count;
  }
  if (total && std::to_string(paths.size()) != total->substr(std::min(total->find_first_not_of('0'), total->size()))) {
    fail(ErrorCode::kNotFound, "{}: holds {} of {} shards model-*-of-{}.safetensors. Fetch the others", folder.string(), paths.size(),
         *total, *total);
  }
  return paths;
}

}  // namespace

std::shared_ptr<WeightSource> folder_weights(const std::string& folder) {
  const fs::path whole = fs::path(folder) / "model.safetensors", index = fs::path(folder) / "model.safetensors.index.json";
  if (is_there(whole)) return shards(folder, {whole.string()});
  if (is_there(index)) return indexed_weights(folder, index);
  const std::set<std::string> paths = listed_shards(folder);
  return paths.empty() ? nullptr : shards(folder, paths);
}

std::shared_ptr<WeightSource> gguf_weights(std::shared_ptr<const GgufFile> file) { return std::make_shared<GgufWeights>(std::move(file)); }

std::shared_ptr<const WeightSource> file_weights(const std::string& path) {
  if (!is_there(path))
    fail(ErrorCode::kNotFound, "{}: does not exist; wanted a .safetensors file, a folder of them or a .gguf file", printable(path, 500));
  if (is_gguf(path)) return gguf_weights(std::make_shared<const GgufFile>(GgufFile::open(path)));
  if (!is_folder(path)) return shards(path, {path});
  if (std::shared_ptr<const WeightSource> weights = folder_weights(path)) return weights;
  fail(ErrorCode::kNotFound, "{}: holds neither model.safetensors nor shards of it; name a file in it", path);
}

}  // namespace headrace
