// For tests: a model whose logits are a function of every token before them, as read back from the KV cache through the block
// tables. A block shared wrongly, overwritten or lost changes what it says; one of other weights is an error.
#pragma once

#include <functional>
#include <stdexcept>

#include "runtime/model.h"

namespace headrace::runtime {

class FakeModel : public Model {
 public:
  explicit FakeModel(const ModelLimits& limits) : limits_(limits), kv_(size_t(limits.num_blocks) * limits.block_tokens) {}

  const ModelLimits& limits() const override { return limits_; }

  // The logits after a sequence of tokens, without any cache.
  std::vector<float> logits_after(std::span<const int32_t> tokens) const {
    uint64_t h = 1 + uint64_t(weights);
    for (int32_t token : tokens) h = mix(h ^ uint64_t(token + 1) * 0x9e3779b97f4a7c15u);
    std::vector<float> logits(limits_.vocab_size);
    for (size_t v = 0; v < logits.size(); ++v) logits[v] = float(mix(h + v) >> 40) * (8.f / (1 << 24)) - 4;
    return logits;
  }

  std::span<const float> forward(const Batch& batch) override {
    check(batch);
    if (before_forward) before_forward(batch);
    for (int s = 0; s < batch.num_sequences(); ++s)
      for (int i = batch.sequence_offsets[s]; i < batch.sequence_offsets[s + 1]; ++i)
        slot(batch, s, batch.positions[i]) = {batch.token_ids[i], weights};
    logits_.clear();
    for (int row : batch.logit_rows) {
      int s = 0;
      while (batch.sequence_offsets[s + 1] <= row) ++s;
      std::vector<int32_t> history;
      for (int position = 0; position <= batch.positions[row]; ++position) {
        expect(slot(batch, s, position).weights == weights, "keys of other weights");
        history.push_back(slot(batch, s, position).token);
      }
      const std::vector<float> logits = logits_after(history);
      logits_.insert(logits_.end(), logits.begin(), logits.end());
    }
    if (after_forward) after_forward(batch, logits_);
    ++num_steps;
    num_tokens += batch.num_tokens();
    return logits_;
  }

  std::function<void()> prepare_refit(std::shared_ptr<const WeightSource>) override {
    return [this] { ++weights; };
  }

  int weights = 0;                                                       // which they are
  std::function<void(const Batch&)> before_forward;                      // may throw
  std::function<void(const Batch&, std::vector<float>&)> after_forward;  // may change the logits
  int num_steps = 0, num_tokens = 0;

 private:
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
    x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
    return x ^ (x >> 33);
  }
  struct Slot {
    int32_t token = -1;
    int weights = -1;
  };
  Slot& slot(const Batch& batch, int sequence, int position) {
    const int32_t block = batch.block_tables.at(size_t(sequence) * batch.max_blocks + position / limits_.block_tokens);
    return kv_.at(size_t(block) * limits_.block_tokens + position % limits_.block_tokens);
  }
  static void expect(bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("bad batch: ") + what);
  }
  void check(const Batch& batch) {
    expect(batch.num_tokens() > 0 && batch.num_tokens() <= limits_.max_step_tokens, "number of tokens");
    expect(int(batch.logit_rows.size()) <= limits_.max_logit_rows, "number of rows");
    expect(batch.positions.size() == batch.token_ids.size() && batch.sequence_offsets.back() == batch.num_tokens(), "sizes");
    expect(batch.block_tables.size() == size_t(batch.num_sequences()) * batch.max_blocks, "block tables");
    for (int s = 0; s < batch.num_sequences(); ++s) {
      const int begin = batch.sequence_offsets[s], end = batch.sequence_offsets[s + 1];
      expect(end > begin && batch.context_lengths[s] == batch.positions[end - 1] + 1, "context length");
      expect(batch.context_lengths[s] <= limits_.max_context, "context");
      for (int i = begin; i < end; ++i) {
        expect(batch.positions[i] == batch.positions[begin] + i - begin, "positions");
        expect(batch.reach.at(i) > batch.positions[i] && batch.reach[i] <= limits_.max_context, "reach");
        const int32_t* table = &batch.block_tables[size_t(s) * batch.max_blocks];
        const int32_t written = table[batch.positions[i] / limits_.block_tokens];
        expect(written >= 0 && written < limits_.num_blocks, "block id");
        for (size_t other = 0; other < batch.block_tables.size(); ++other)
          expect(batch.block_tables[other] != written || &batch.block_tables[other] == table + batch.positions[i] / limits_.block_tokens,
                 "a block that is written to is held twice");
      }
    }
  }

  ModelLimits limits_;
  std::vector<Slot> kv_;  // (blocks, block_tokens) token ids stand for keys and values
  std::vector<float> logits_;
};

}  // namespace headrace::runtime
