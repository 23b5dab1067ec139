#include "cli/logits_file.h"

#include <algorithm>

#include "core/error.h"
#include "weights/safetensors_writer.h"

namespace headrace::cli {

LogitsCallback LogitsRecorder::callback() {
  return [this](int, std::span<const float> logits, int vocab_size) {
    vocab_size_ = vocab_size;
    logits_.insert(logits_.end(), logits.begin(), logits.end());
  };
}

void LogitsRecorder::write(const std::string& path, size_t max_positions) const {
  if (vocab_size_ == 0) fail(ErrorCode::kInternal, "no logits were computed");
  const int64_t rows = std::min<int64_t>(int64_t(logits_.size()) / vocab_size_, int64_t(max_positions));
  write_safetensors(path, {{"logits", Tensor::contiguous(static_cast<const void*>(logits_.data()), DType::kF32, {rows, vocab_size_})}});
}

}  // namespace headrace::cli
