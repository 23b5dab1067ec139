// What the loop needs of a model: a batch of packed tokens in, rows of logits out.
#pragma once

#include <functional>
#include <memory>

#include "headrace/types.h"

namespace headrace {
class ThreadPool;
class WeightSource;
}  // namespace headrace

namespace headrace::runtime {

// One step's work as plain data. Sequence s has the tokens [sequence_offsets[s], sequence_offsets[s + 1]).
struct Batch {
  std::vector<int32_t> token_ids;         // (tokens)
  std::vector<int32_t> positions;         // (tokens), consecutive within a sequence
  std::vector<int32_t> reach;             // (tokens) tokens of the sequence when this one was read: the whole prompt's for one of it
  std::vector<int32_t> sequence_offsets;  // (sequences + 1)
  std::vector<int32_t> context_lengths;   // (sequences) tokens in the cache after this step
  std::vector<int32_t> block_tables;      // (sequences, max_blocks), padded with -1
  int max_blocks = 0;
  std::vector<int32_t> logit_rows;  // (rows) indices into token_ids whose logits are wanted, ascending

  int num_tokens() const { return int(token_ids.size()); }
  int num_sequences() const { return int(context_lengths.size()); }
};

struct ModelLimits {
  int vocab_size = 0;
  int max_context = 0;    // tokens of one sequence
  int block_tokens = 16;  // tokens per KV block
  int num_blocks = 0;
  int max_step_tokens = 0;  // tokens of one batch
  int max_logit_rows = 0;   // rows of one batch
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelLimits& limits() const = 0;
  // Logits (rows, vocabulary), row-major, valid until the next call. Writes keys and values of the batch's tokens into their
  // blocks. May throw: the step's requests then fail, and their blocks are not relied upon.
  virtual std::span<const float> forward(const Batch& batch) = 0;
  // Threads that idle between calls of forward; sampling shares its rows among them. Null: it does without.
  virtual ThreadPool* threads() { return nullptr; }
  // Makes other weights ready, while forward may run on another thread. Calling what it returns, between two calls of forward, puts them in
  // place; the old ones go with it. Throws Error when they do not fit.
  virtual std::function<void()> prepare_refit(std::shared_ptr<const WeightSource>) {
    throw Error(ErrorCode::kUnsupported, "this model takes no other weights");
  }
};

}  // namespace headrace::runtime
