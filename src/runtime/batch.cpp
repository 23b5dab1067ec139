#include "runtime/batch.h"

#include <algorithm>

namespace headrace::runtime {

Batch make_batch(std::span<const Chunk> chunks) {
  Batch batch;
  for (const Chunk& chunk : chunks) batch.max_blocks = std::max(batch.max_blocks, int(chunk.sequence->table.blocks.size()));
  batch.sequence_offsets.push_back(0);
  for (const Chunk& chunk : chunks) {
    const Sequence& sequence = *chunk.sequence;
    for (int position = chunk.begin; position < chunk.end; ++position) {
      if (position >= chunk.first_row) batch.logit_rows.push_back(batch.num_tokens());
      batch.token_ids.push_back(sequence.tokens[position]);
      batch.positions.push_back(position);
      batch.reach.push_back(std::max(sequence.num_prompt, position + 1));
    }
    batch.sequence_offsets.push_back(batch.num_tokens());
    batch.context_lengths.push_back(chunk.end);
    batch.block_tables.insert(batch.block_tables.end(), sequence.table.blocks.begin(), sequence.table.blocks.end());
    batch.block_tables.resize(batch.context_lengths.size() * batch.max_blocks, -1);
  }
  return batch;
}

}  // namespace headrace::runtime
