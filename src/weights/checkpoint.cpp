#include "weights/checkpoint.h"

#include <fstream>

#include "weights/file_weights.h"
#include "weights/folder.h"
#include "weights/gguf_config.h"
#include "weights/hf_config.h"
#include "weights/tensor_names.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

Json read_json_if_there(const fs::path& path) { return is_there(path) ? read_json_file(path.string()) : Json(nullptr); }

Checkpoint open_config(const std::string& path) {
  Checkpoint checkpoint;
  checkpoint.path = path;
  checkpoint.config = canonical_config(read_json_file(path), path);
  checkpoint.generation = generation_defaults(checkpoint.config, nullptr, path);
  checkpoint.no_weights =
      fmt::format("{}: is a configuration without weights; name the model's folder, or use random weights (--random-weights)", path);
  return checkpoint;
}

std::string why_no_weights(const fs::path& folder) {
  for (const fs::path& entry : list_folder(folder)) {
    const std::string name = entry.filename().string();
    if (name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth")) {
      return fmt::format("{}: holds PyTorch pickles such as '{}', which are not read; convert them to safetensors", folder.string(),
                         printable(name));
    }
  }
  return fmt::format(
      "{}: holds no weights: neither model.safetensors nor shards of it; fetch them, or use random weights (--random-weights)",
      folder.string());
}

Checkpoint open_folder(const fs::path& folder) {
  Checkpoint checkpoint = open_config((folder / "config.json").string());
  checkpoint.path = folder.string();
  const fs::path generation = folder / "generation_config.json";
  checkpoint.generation = generation_defaults(checkpoint.config, read_json_if_there(generation), generation.string());
  checkpoint.pooling = read_pooling(folder.string());
  checkpoint.text = read_text_files(folder.string());
  if (const std::shared_ptr<WeightSource> stored = folder_weights(folder.string())) {
    const std::string model_type = find_or<std::string>(checkpoint.config, "model_type", "", checkpoint.path);
    checkpoint.weights = renamed_weights(stored, hf_tensor_names(model_type, stored->names(), checkpoint.path));
    checkpoint.no_weights.clear();
  } else {
    checkpoint.no_weights = why_no_weights(folder);
  }
  return checkpoint;
}

Checkpoint open_gguf(const std::string& path) {
  const auto file = std::make_shared<const GgufFile>(GgufFile::open(path));
  Checkpoint checkpoint;
  checkpoint.path = path;
  checkpoint.format = Checkpoint::Format::kGguf;
  checkpoint.config = gguf_config(*file);
  checkpoint.generation = gguf_generation_defaults(*file);
  checkpoint.pooling = gguf_pooling(*file);
  checkpoint.text = gguf_text_files(*file);
  if (file->tensors().empty()) {
    checkpoint.no_weights = fmt::format("{}: holds a vocabulary but no weights", path);
  } else {
    const std::shared_ptr<WeightSource> stored = gguf_weights(file);
    checkpoint.weights = renamed_weights(stored, gguf_tensor_names(*file->string("general.architecture"), stored->names(), path));
  }
  return checkpoint;
}

Checkpoint open_other(const CheckpointFormat& format, const std::string& path) {
  CheckpointFormat::Opened opened = format.open(path);
  const std::string where = path + ": " + format.name + " configuration";
  Checkpoint checkpoint;
  checkpoint.path = path;
  checkpoint.config = canonical_config(parse_json(opened.config, where), where);
  checkpoint.generation = generation_defaults(checkpoint.config, nullptr, where);
  checkpoint.text = read_text_files(is_folder(path) ? path : fs::absolute(path).parent_path().string());
  const std::string model_type = find_or<std::string>(checkpoint.config, "model_type", "", where);
  checkpoint.weights = renamed_weights(opened.weights, hf_tensor_names(model_type, opened.weights->names(), path));
  return checkpoint;
}

}  // namespace

const WeightSource& Checkpoint::require_weights() const {
  if (!weights) throw Error(ErrorCode::kNotFound, no_weights);
  return *weights;
}

Checkpoint open_checkpoint(const std::string& path, std::span<const CheckpointFormat> formats) {
  if (!is_there(path))
    fail(ErrorCode::kNotFound, "{}: does not exist; wanted a Hugging Face folder, a .gguf file, a config.json or an engine",
         printable(path, 500));
  for (const CheckpointFormat& format : formats)
    if (format.probe(path)) return open_other(format, path);
  if (is_folder(path)) {
    if (is_there(fs::path(path) / "config.json")) return open_folder(path);
    const std::string gguf = only_gguf(path);
    if (gguf.empty()) fail(ErrorCode::kNotFound, "{}: holds neither a config.json nor a .gguf file; is it a model's folder?", path);
    return open_gguf(gguf);
  }
  if (is_gguf(path) || path.ends_with(".gguf")) return open_gguf(path);
  if (path.ends_with(".json")) return open_config(path);
  invalid("{}: is no model: wanted a Hugging Face folder, a .gguf file, a config.json or a whole engine", path);
}

std::shared_ptr<const WeightSource> checkpoint_weights(const std::string& path) {
  const Checkpoint checkpoint = open_checkpoint(path);
  checkpoint.require_weights();
  return checkpoint.weights;
}

bool is_gguf(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;  // opening a pipe waits for a writer
  char magic[4] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(magic, 4) && std::string_view(magic, 4) == "GGUF";
}

std::string only_gguf(const std::string& folder) {
  std::vector<std::string> models;
  for (const fs::path& entry : list_folder(folder)) {
    const std::string name = entry.filename().string();
    const bool later_part = name.find("-of-") != std::string::npos && name.find("-00001-of-") == std::string::npos;
    if (name.ends_with(".gguf") && !later_part) models.push_back(entry.string());
  }
  if (models.size() > 1) invalid("{}: holds several models; name one of {}", folder, fmt::join(models, ", "));
  return models.empty() ? std::string() : models.front();
}

}  // namespace headrace
