// Somebody else's model on disk: configuration, weights and tokenizer files, whatever the format.
#pragma once

#include "core/json.h"
#include "weights/text_files.h"
#include "weights/weight_source.h"

namespace headrace {

struct Checkpoint {
  enum class Format { kHuggingFace, kGguf };
  std::string path;
  Format format = Format::kHuggingFace;
  Json config;      // Hugging Face's keys in one spelling: see canonical_config and gguf_config
  Json generation;  // see generation_defaults
  Json pooling;     // see read_pooling; null in most models
  TextFiles text;
  std::shared_ptr<const WeightSource> weights;  // under canonical names (tensor_names.h); null when there are none
  std::string no_weights;                       // why `weights` is null

  // The weights. Throws Error(kNotFound) when there are none.
  const WeightSource& require_weights() const;
};

// A further format of checkpoints, asked before Headrace's own.
struct CheckpointFormat {
  std::string name;
  std::function<bool(const std::string& path)> probe;  // of a path that exists
  struct Opened {
    std::string config;                           // as JSON, of config.json's kind
    std::shared_ptr<const WeightSource> weights;  // under Hugging Face's names
  };
  std::function<Opened(const std::string& path)> open;
};

// `path` is a Hugging Face folder, a .gguf file, a folder with one GGUF model and no config.json, or a config.json (then without weights).
// Throws Error(kNotFound) when it is none of these, other errors when a file in it is damaged.
Checkpoint open_checkpoint(const std::string& path, std::span<const CheckpointFormat> formats = {});

// By the first four bytes of the file.
bool is_gguf(const std::string& path);
// The path of the only GGUF model in a folder (of a split one, its first part); empty when there is none.
// Throws Error(kInvalidArgument) when there are several.
std::string only_gguf(const std::string& folder);

}  // namespace headrace
