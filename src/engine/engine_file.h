// Engines on disk: one safetensors file, which any safetensors reader can open.
//   metadata  headrace.format ("1"), headrace.version, engine (JSON: kind, vocab_size, max_positions, exact, config, generation,
//             pooling, text_name, weights), program (text)
//   tensors   headrace/text/NAME: tokenizer and template files as bytes; and with embedded weights one tensor for each under its
//             checkpoint name. Block types are stored as bytes; "weights" in the JSON has every weight's type and sizes
// With linked weights that JSON also says where in which file each tensor is, and a fingerprint of each file.
#pragma once

#include "engine/engine.h"

namespace headrace {

enum class WeightsMode { kEmbed, kLink, kNone };

// Written aside and renamed: an interrupted write leaves nothing behind. Throws Error(kInvalidArgument) for kLink when a weight is
// not in a file.
void write_engine(const Engine& engine, const std::string& path, WeightsMode mode);

// By how it begins or by its metadata; false for other files, also for other safetensors files. True for one that is cut short.
bool is_engine_file(const std::string& path);

// Throws Error(kInvalidArgument) when the file is damaged or of a later format, or when a linked file is missing or has changed.
Engine read_engine(const std::string& path);

}  // namespace headrace
