#include "cli/encode.h"

#include "core/error.h"

namespace headrace::cli {
namespace {

Session make_session(Engine& engine, int num_threads) {
  if (engine.kind != "encoder")
    fail(ErrorCode::kUnsupported, "{}: is a decoder, which generates text; an encoder such as BERT is wanted", engine.origin);
  if (!engine.weights)
    fail(ErrorCode::kUnsupported, "{}: is an engine without weights; build it with --weights embed or link", engine.origin);
  return Session(std::move(engine.program), engine.weights, {.num_threads = num_threads, .exact = engine.exact, .compile = false});
}

Tensor view(const std::vector<int32_t>& values) {
  return Tensor::contiguous(static_cast<const void*>(values.data()), DType::kI32, {int64_t(values.size())});
}

}  // namespace

EncoderModel::EncoderModel(Engine engine, int num_threads)
    : vocab_size_(engine.vocab_size), max_positions_(engine.max_positions), origin_(engine.origin),
      session_(make_session(engine, num_threads)) {}

std::map<std::string, HostTensor> EncoderModel::run(std::span<const std::vector<int32_t>> sequences) {
  std::vector<int32_t> tokens, positions, offsets{0};
  for (const std::vector<int32_t>& ids : sequences) {
    if (ids.empty()) invalid("the prompt is empty: give at least one token");
    if (int64_t(ids.size()) > max_positions_)
      invalid("the prompt has {} tokens, but {} has {} positions: shorten it", ids.size(), origin_, max_positions_);
    for (int32_t id : ids) {
      if (id < 0 || id >= vocab_size_) invalid("token {}: ids of this model are 0 to {}", id, vocab_size_ - 1);
      positions.push_back(int32_t(tokens.size()) - offsets.back());
      tokens.push_back(id);
    }
    offsets.push_back(int32_t(tokens.size()));
  }
  const std::vector<int32_t> types(tokens.size(), 0);
  return session_.run(
      {{"tokens", view(tokens)}, {"positions", view(positions)}, {"token_types", view(types)}, {"sequence_offsets", view(offsets)}});
}

}  // namespace headrace::cli
