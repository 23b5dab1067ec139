#include "runtime/scheduler.h"

#include <algorithm>
#include <iterator>

namespace headrace::runtime {

bool Scheduler::Step::holds(const Sequence* sequence) const {
  return std::ranges::any_of(chunks, [&](const Chunk& c) { return c.sequence == sequence; });
}

void Scheduler::remove(Sequence& sequence) {
  waiting_.erase(&sequence);
  running_.erase(&sequence);
  cache_.release(sequence.table);
}

std::vector<Chunk> Scheduler::next() {
  Step step{.tokens_left = options_.max_step_tokens, .rows_left = options_.max_logit_rows};
  schedule_generation(step);
  schedule_prompts(step);
  return std::move(step.chunks);
}

void Scheduler::schedule_generation(Step& step) {
  const std::vector<Sequence*> running(running_.begin(), running_.end());
  for (Sequence* sequence : running)
    if (running_.contains(sequence) && sequence->num_uncomputed() == 1) schedule(step, *sequence, 1);
}

// The first prompt in line has three quarters of the tokens, so that a short question need not wait until a book has been read;
// and all that the others leave.
void Scheduler::schedule_prompts(Step& step) {
  std::vector<Sequence*> prompts;
  std::ranges::copy_if(running_, std::back_inserter(prompts), [](const Sequence* s) { return s->num_uncomputed() > 1; });
  const int share = step.tokens_left - step.tokens_left / 4;
  const int kept = prompts.empty() ? 0 : std::min(prompts[0]->num_uncomputed(), share);
  for (size_t i = 1; i < prompts.size(); ++i)
    if (running_.contains(prompts[i])) schedule(step, *prompts[i], step.tokens_left - kept);
  while (start_next(step, step.tokens_left - kept)) {
  }
  if (!prompts.empty() && running_.contains(prompts[0])) schedule(step, *prompts[0], step.tokens_left);
}

void Scheduler::schedule(Step& step, Sequence& sequence, int budget) {
  const int begin = sequence.num_computed, left = sequence.num_uncomputed();
  int count = std::min(left, budget), first_row;
  if (sequence.wants_all_logits()) {
    const int first = std::max(begin, sequence.num_reported);
    count = std::min(count, first - begin + step.rows_left);
    first_row = std::min(first, begin + count);
  } else {
    if (count == left && step.rows_left == 0) --count;
    first_row = count == left && sequence.wants_next_token() ? begin + count - 1 : begin + count;
  }
  if (count <= 0 || !make_room(step, sequence, begin + count)) return;
  step.chunks.push_back({&sequence, begin, begin + count, first_row});
  step.tokens_left -= count;
  step.rows_left -= begin + count - first_row;
}

Sequence* Scheduler::next_to_start() const {
  const auto next = std::ranges::find_if(waiting_, [&](const Sequence* s) { return !new_are_held_back_ || s->num_preemptions > 0; });
  return next == waiting_.end() ? nullptr : *next;
}

// The first waiting sequence starts if all that runs keeps the room it may come to need (kNoEvict) or needs now (kMaxUtilization).
bool Scheduler::start_next(Step& step, int budget) {
  Sequence* next = next_to_start();
  if (!next || budget <= 0 || int(running_.size()) >= options_.max_sequences) return false;
  Sequence& sequence = *next;
  // Logits that are still to be reported have to be computed.
  const size_t known = sequence.wants_all_logits() ? size_t(sequence.num_reported) + 1 : sequence.tokens.size();
  sequence.num_computed = cache_.attach(sequence.table, std::span(sequence.tokens).first(std::min(known, sequence.tokens.size())));
  int missing = missing_blocks(sequence);
  for (const Sequence* other : running_) missing += missing_blocks(*other);
  if (missing > cache_.num_available()) {
    cache_.release(sequence.table);
    sequence.num_computed = 0;
    return false;
  }
  waiting_.erase(next);
  running_.insert(&sequence);
  if (sequence.num_preemptions == 0) sequence.num_cached = sequence.num_computed;
  schedule(step, sequence, budget);
  return true;
}

int Scheduler::missing_blocks(const Sequence& sequence) const {
  const int longest = sequence.max_cached_tokens();
  const int tokens = options_.policy == SchedulingPolicy::kNoEvict ? longest : std::min(int(sequence.tokens.size()) + 1, longest);
  return std::max(0, cache_.blocks_for(tokens) - int(sequence.table.blocks.size()));
}

// Under kNoEvict the room was promised at the start. Otherwise sequences that come later in line give theirs, the last one first;
// when there is none, this one waits a step for those before it.
bool Scheduler::make_room(const Step& step, Sequence& sequence, int num_tokens) {
  while (!cache_.extend(sequence.table, num_tokens)) {
    Sequence* victim = victim_for(step, sequence);
    if (!victim) return false;
    preempt(*victim);
  }
  return true;
}

Sequence* Scheduler::victim_for(const Step& step, const Sequence& sequence) const {
  for (auto last = running_.rbegin(); last != running_.rend() && *last != &sequence; ++last)
    if (!step.holds(*last)) return *last;
  return nullptr;
}

void Scheduler::preempt(Sequence& sequence) {
  cache_.release(sequence.table);
  sequence.num_computed = 0;
  ++sequence.num_preemptions;
  ++num_preemptions_;
  running_.erase(&sequence);
  waiting_.insert(&sequence);
}

void Scheduler::preempt_all() {
  while (!running_.empty()) preempt(**running_.begin());
}

bool Scheduler::has_begun() const {
  return !running_.empty() || std::ranges::any_of(waiting_, [](const Sequence* s) { return s->num_preemptions > 0; });
}

}  // namespace headrace::runtime
