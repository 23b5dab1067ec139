// Encoders: packed texts in, every output by name.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "headrace/engine.h"

namespace headrace::cli {

class EncoderModel {
 public:
  // Throws Error when the engine is no encoder or lacks weights.
  EncoderModel(Engine engine, int num_threads);
  // One sequence after the other, without padding; token types are 0. Throws Error for ids that the model does not have and for
  // sequences that are empty or longer than its positions.
  std::map<std::string, HostTensor> run(std::span<const std::vector<int32_t>> sequences);

 private:
  int64_t vocab_size_, max_positions_;
  std::string origin_;
  Session session_;
};

}  // namespace headrace::cli
