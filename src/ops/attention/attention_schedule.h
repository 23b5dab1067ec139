// How a team of threads goes through the tiles of an attention launch. Long prompts make many tiles; a few sequences that
// decode make too few to keep every thread busy, so their chunks are shared out too and folded after a barrier.
#pragma once

#include "core/thread_pool.h"
#include "ops/attention/attention_tile.h"

namespace headrace {

// The operands of a launch, for attention and paged_attention alike.
struct AttentionLaunch {
  const float* q;  // (tokens, heads * head_dim)
  float* y;
  int64_t q_stride, y_stride;
  const int32_t* offsets;  // (sequences + 1)
  int64_t num_sequences;

  struct Heads {  // keys or values: those of the first kv head, and the way to the next in bytes
    KvVectors first;
    int64_t head_stride;
  };
  Heads keys, values;
  // Of a cache. Without one, lengths and tables are null, a sequence is as long as its tokens and its vectors start at its offset.
  const int32_t* lengths = nullptr;  // (sequences)
  const int32_t* tables = nullptr;   // (sequences, max_blocks)
  int64_t table_stride = 0, block_tokens = 0;

  // Of the memory behind the pointers: rows of q, blocks of the cache.
  int64_t num_tokens, num_blocks = 0;
};

class AttentionRunner {
 public:
  AttentionRunner(const Attention& attributes, CpuIsa isa, DType kv, Arithmetic arithmetic, int num_threads)
      : shape_(attributes), kv_heads_(attributes.kv_heads), num_threads_(num_threads), code_(attention_code(isa, kv, arithmetic)) {}

  // max_length: of a sequence. A team that runs has num_threads threads. run throws Error(kInvalidArgument), on all threads, when
  // offsets, lengths or tables lead out of the operands' memory.
  size_t workspace_bytes(int64_t num_sequences, int64_t max_length) const;
  void run(Team& team, const AttentionLaunch& launch, int64_t max_length, std::byte* workspace) const;

 private:
  struct Share;
  class Walk;
  void verify(const AttentionLaunch& launch, int64_t max_length) const;
  AttentionTile tile(const AttentionLaunch& launch, int64_t sequence, int64_t kv_head, int64_t index) const;
  Share share(const AttentionLaunch& launch, int64_t sequence, int64_t chunks_per_job) const;
  int64_t chunks_per_job(const AttentionLaunch& launch) const;
  int64_t slot_floats(int64_t max_length) const;
  int64_t max_slots(int64_t num_sequences) const;

  AttentionShape shape_;
  int64_t kv_heads_;
  int num_threads_;
  AttentionCode code_;
};

}  // namespace headrace
