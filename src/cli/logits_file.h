// 'run --logits-out': the logits of every position, gathered while they are computed and written as one safetensors file.
#pragma once

#include <string>
#include <vector>

#include "headrace/executor.h"

namespace headrace::cli {

class LogitsRecorder {
 public:
  // To be given to the request. The recorder must outlive it.
  LogitsCallback callback();
  // Tensor "logits", fp32 (positions, vocabulary), of at most `max_positions`.
  void write(const std::string& path, size_t max_positions) const;

 private:
  std::vector<float> logits_;
  int64_t vocab_size_ = 0;
};

}  // namespace headrace::cli
