// Decides how many tokens of which sequence the next step computes. Host only and deterministic: the same calls give the same steps.
// Sequences that generate come first; then prompts, in chunks that share what is left of the step's token budget; then new
// sequences start, higher priority first, then in order of arrival, and nobody overtakes one that waits for room.
#pragma once

#include <set>

#include "runtime/model.h"
#include "runtime/sequence.h"

namespace headrace::runtime {

struct SchedulerOptions {
  SchedulingPolicy policy = SchedulingPolicy::kNoEvict;
  int max_sequences = 1;  // no more than max_step_tokens and max_logit_rows, so that all can generate in one step
  int max_step_tokens = 1;
  int max_logit_rows = 1;
};

// Positions [begin, end) of a sequence are to be computed, and those from first_row on want logits. Their blocks are there.
struct Chunk {
  Sequence* sequence;
  int begin, end;
  int first_row;
};

class Scheduler {
 public:
  Scheduler(const SchedulerOptions& options, KvCache& cache) : options_(options), cache_(cache) {}

  // The sequence waits for its turn, and is the scheduler's until remove.
  void add(Sequence& sequence) { waiting_.insert(&sequence); }
  // In any state. Its blocks are released.
  void remove(Sequence& sequence);
  // Empty only when there is nothing to do.
  std::vector<Chunk> next();

  // Stops all that run: they are computed again from their first token.
  void preempt_all();
  // While held back, only sequences that have run before start.
  void hold_back_new(bool hold) { new_are_held_back_ = hold; }
  // Whether there is any that has run and is not finished.
  bool has_begun() const;

  const std::set<Sequence*, ServedBefore>& waiting() const { return waiting_; }
  const std::set<Sequence*, ServedBefore>& running() const { return running_; }
  int64_t num_preemptions() const { return num_preemptions_; }

 private:
  struct Step {
    std::vector<Chunk> chunks;
    int tokens_left, rows_left;
    bool holds(const Sequence* sequence) const;
  };
  void schedule_generation(Step& step);
  void schedule_prompts(Step& step);
  void schedule(Step& step, Sequence& sequence, int budget);
  bool start_next(Step& step, int budget);
  Sequence* next_to_start() const;
  bool make_room(const Step& step, Sequence& sequence, int num_tokens);
  Sequence* victim_for(const Step& step, const Sequence& sequence) const;
  void preempt(Sequence& sequence);
  int missing_blocks(const Sequence& sequence) const;

  SchedulerOptions options_;
  KvCache& cache_;
  std::set<Sequence*, ServedBefore> waiting_, running_;
  bool new_are_held_back_ = false;
  int64_t num_preemptions_ = 0;
};

}  // namespace headrace::runtime
