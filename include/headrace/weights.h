// Weights by name, wherever they come from: checkpoint files, memory, chance. What Session and build_engine bind a graph's parameters to.
//
//   auto weights = checkpoint_weights("Qwen2.5-0.5B");                      // a model of a known family, under Hugging Face's names
//   auto mine = file_weights("mlp.safetensors");                            // any tensors, under the names that the file gives them
//   auto made = memory_weights({{"fc.weight", HostTensor(DType::kF32, {4, 8}, values)}});
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// Derive from it to bring weights from elsewhere. All functions may be called from several threads at once.
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

// ---------------------------------------------------------------------------------------------------------------- sources

// The weights of a checkpoint, under the names that Hugging Face's class for the whole model writes ("model.layers.0.mlp.up_proj.weight"),
// whatever the format. `path`: a Hugging Face folder, or a .gguf file. Throws Error: kNotFound when there are none, others for damage.
std::shared_ptr<const WeightSource> checkpoint_weights(const std::string& path);

// Tensors of a .safetensors file, of all .safetensors in a Hugging Face folder, or of a .gguf file, under the names that they have there.
// Needs no config.json. Throws Error as checkpoint_weights.
std::shared_ptr<const WeightSource> file_weights(const std::string& path);

// Tensors that a program has made. The tensors' owners are kept.
std::shared_ptr<WeightSource> memory_weights(std::map<std::string, HostTensor> tensors);

// `source` under other names: new name -> name in the source. What the map does not mention is hidden.
std::shared_ptr<WeightSource> renamed_weights(std::shared_ptr<const WeightSource> source, std::map<std::string, std::string> names);

// Writes contiguous tensors as a .safetensors file, which appears when it is complete. Throws Error(kInvalidArgument) for a name that
// occurs twice, Error(kUnsupported) for a block type, Error when the file cannot be written.
void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// --------------------------------------------------------------------------------------------------- other files of a checkpoint

struct TextFile {
  std::string_view bytes;
  std::shared_ptr<const void> owner;  // of the bytes
};
// The files that a tokenizer and a chat template are made from.
struct TextFiles {
  std::string name;  // of the folder: where a tokenizer's files hold ranks alone, it says how they cut text
  std::map<std::string, TextFile, std::less<>> files;

  bool empty() const { return files.empty(); }
  std::optional<std::string_view> find(std::string_view file) const {
    const auto it = files.find(file);
    return it == files.end() ? std::nullopt : std::optional(it->second.bytes);
  }
};

// Of a folder: tokenizer.json, tokenizer_config.json, special_tokens_map.json, added_tokens.json, tokenizer.model (and T5's and XLM-R's
// names for it), vocab.json, merges.txt, vocab.txt, chat_template.jinja, chat_template.json, *.tiktoken and (under the folder's name and
// theirs) additional_chat_templates/*.jinja, as far as they are there; when there are none, the metadata of its only GGUF. Of a .gguf: its
// metadata. Of anything else no files, but the name of the folder that holds it.
TextFiles read_text_files(const std::string& path);

}  // namespace headrace
