#include "ops/attention/attention_schedule.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace headrace {
namespace {

constexpr int64_t kSplitRows = 16;     // tiles of more rows are not split: their work is arithmetic, and there are many
constexpr int64_t kJobsPerThread = 8;  // aimed at when splitting
constexpr int32_t kOnlyBlock = 0;      // the table of a sequence without a cache: one endless block

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

// How a sequence's work is cut: its jobs are kv_heads * tiles * parts; with several parts it has one tile for each kv head, and
// each of these has a slot for partial results.
struct AttentionRunner::Share {
  int64_t tiles = 0, first_chunk = 0, chunks = 0, parts = 1;
};

// Goes through the sequences once, forwards, to find the one that a rising index of a job or a slot falls into.
class AttentionRunner::Walk {
 public:
  Walk(const AttentionRunner& runner, const AttentionLaunch& launch, int64_t chunks_per_job)
      : runner_(runner), launch_(launch), chunks_per_job_(chunks_per_job), share(runner.share(launch, 0, chunks_per_job)) {}

  int64_t jobs() const { return runner_.kv_heads_ * share.tiles * share.parts; }
  int64_t slots() const { return share.parts > 1 ? runner_.kv_heads_ : 0; }
  bool step() {
    first_job += jobs(), first_slot += slots();
    if (++sequence == launch_.num_sequences) return false;
    share = runner_.share(launch_, sequence, chunks_per_job_);
    return true;
  }
  void go_to_job(int64_t job) {
    while (job >= first_job + jobs()) step();
  }
  void go_to_slot(int64_t slot) {
    while (slot >= first_slot + slots()) step();
  }

 private:
  const AttentionRunner& runner_;
  const AttentionLaunch& launch_;
  int64_t chunks_per_job_;

 public:
  Share share;
  int64_t sequence = 0, first_job = 0, first_slot = 0;
};

AttentionTile AttentionRunner::tile(const AttentionLaunch& launch, int64_t sequence, int64_t kv_head, int64_t index) const {
  const int64_t offset = launch.offsets[sequence], tokens = launch.offsets[sequence + 1] - offset;
  const int64_t length = launch.lengths ? launch.lengths[sequence] : tokens, column = kv_head * shape_.group * shape_.head_dim;
  const auto head = [&](const AttentionLaunch::Heads& heads) {
    KvVectors vectors = heads.first;
    vectors.data += kv_head * heads.head_stride + (launch.lengths ? 0 : offset * vectors.token_stride);
    return vectors;
  };
  return {.q = launch.q + offset * launch.q_stride + column,
          .y = launch.y + offset * launch.y_stride + column,
          .q_stride = launch.q_stride,
          .y_stride = launch.y_stride,
          .first_row = index * kTileRows,
          .num_rows = std::min<int64_t>(kTileRows, tokens * shape_.group - index * kTileRows),
          .first_position = length - tokens,
          .length = length,
          .keys = head(launch.keys),
          .values = head(launch.values),
          .table = launch.tables ? launch.tables + sequence * launch.table_stride : &kOnlyBlock,
          .block_tokens = launch.tables ? launch.block_tokens : std::numeric_limits<int64_t>::max()};
}

AttentionRunner::Share AttentionRunner::share(const AttentionLaunch& launch, int64_t sequence, int64_t chunks_per_job) const {
  const int64_t rows = (launch.offsets[sequence + 1] - launch.offsets[sequence]) * shape_.group;
  if (rows <= 0) return {};
  Share share{.tiles = divide_up(rows, kTileRows)};
  const AttentionTile::Range chunks = tile(launch, sequence, 0, share.tiles - 1).chunks(shape_);
  share.first_chunk = chunks.begin, share.chunks = std::max<int64_t>(0, chunks.end - chunks.begin);
  if (rows <= kSplitRows && share.chunks / 2 >= chunks_per_job) share.parts = divide_up(share.chunks, chunks_per_job);
  return share;
}

// Tiles with at least twice as many chunks are split. All chunks of the launch are at most num_threads * kJobsPerThread times
// this, so there are at most num_threads * kJobsPerThread / 2 split tiles: see max_slots.
int64_t AttentionRunner::chunks_per_job(const AttentionLaunch& launch) const {
  constexpr int64_t kNoSplit = std::numeric_limits<int64_t>::max();
  if (num_threads_ == 1) return kNoSplit;
  int64_t chunks = 0;
  for (int64_t s = 0; s < launch.num_sequences; ++s) {
    const Share whole = share(launch, s, kNoSplit);
    chunks += kv_heads_ * whole.tiles * whole.chunks;
  }
  return std::max<int64_t>(1, divide_up(chunks, num_threads_ * kJobsPerThread));
}

int64_t AttentionRunner::slot_floats(int64_t max_length) const {
  return divide_up(max_length, kChunkTokens) * Partial::floats(kSplitRows, shape_.padded_dim());
}

int64_t AttentionRunner::max_slots(int64_t num_sequences) const {
  return num_threads_ == 1 || shape_.group > kSplitRows ? 0 : std::min(num_sequences * kv_heads_, num_threads_ * kJobsPerThread / 2);
}

size_t AttentionRunner::workspace_bytes(int64_t num_sequences, int64_t max_length) const {
  return size_t(num_threads_ * attention_scratch_bytes(shape_) +
                max_slots(num_sequences) * slot_floats(max_length) * int64_t(sizeof(float)));
}

void AttentionRunner::verify(const AttentionLaunch& launch, int64_t max_length) const {
  if (launch.offsets[0] < 0 || launch.offsets[launch.num_sequences] > launch.num_tokens)
    invalid("attention: sequence_offsets go from {} to {}, there are {} tokens", launch.offsets[0], launch.offsets[launch.num_sequences],
            launch.num_tokens);
  for (int64_t s = 0; s < launch.num_sequences; ++s) {
    const int64_t tokens = int64_t{launch.offsets[s + 1]} - launch.offsets[s], length = launch.lengths ? launch.lengths[s] : tokens;
    if (tokens < 0) invalid("attention: sequence_offsets fall from {} to {}", launch.offsets[s], launch.offsets[s + 1]);
    if (length < tokens || length > max_length)
      invalid("attention: sequence {} has {} new tokens and a length of {}, at least as many and at most {} are wanted", s, tokens, length,
              max_length);
    if (!launch.tables || tokens == 0) continue;
    const int64_t first = shape_.window > 0 ? std::max<int64_t>(0, length - tokens + 1 - shape_.window) : 0;
    const int32_t* table = launch.tables + s * launch.table_stride;
    for (int64_t b = first / launch.block_tokens; b < divide_up(length, launch.block_tokens); ++b)
      if (table[b] < 0 || table[b] >= launch.num_blocks)
        invalid("attention: block {} of sequence {} is number {} of a cache of {}", b, s, table[b], launch.num_blocks);
  }
}

void AttentionRunner::run(Team& team, const AttentionLaunch& launch, int64_t max_length, std::byte* workspace) const {
  if (launch.num_sequences == 0) return;
  verify(launch, max_length);
  std::byte* scratch = workspace + team.rank() * attention_scratch_bytes(shape_);
  float* slots = reinterpret_cast<float*>(workspace + num_threads_ * attention_scratch_bytes(shape_));
  const int64_t per_job = chunks_per_job(launch), per_slot = slot_floats(max_length);
  Walk total(*this, launch, per_job);
  while (total.step()) {
  }

  Walk at(*this, launch, per_job);
  team.for_each(total.first_job, 1, [&](int64_t job, int64_t) {
    at.go_to_job(job);
    const int64_t pieces = at.share.tiles * at.share.parts, kv_head = (job - at.first_job) / pieces, piece = (job - at.first_job) % pieces;
    if (at.share.parts == 1) {  // the longest first, which evens out the end
      code_.attend(shape_, tile(launch, at.sequence, kv_head, at.share.tiles - 1 - piece), scratch);
    } else {
      const int64_t begin = at.share.first_chunk + piece * per_job, end = std::min(begin + per_job, at.share.first_chunk + at.share.chunks);
      code_.attend_chunks(shape_, tile(launch, at.sequence, kv_head, 0), begin, end, slots + (at.first_slot + kv_head) * per_slot, scratch);
    }
  });
  if (total.first_slot == 0) return;
  team.barrier();
  Walk folding(*this, launch, per_job);
  team.for_each(total.first_slot, 1, [&](int64_t slot, int64_t) {
    folding.go_to_slot(slot);
    code_.fold_chunks(shape_, tile(launch, folding.sequence, slot - folding.first_slot, 0), slots + slot * per_slot, scratch);
  });
}

}  // namespace headrace
