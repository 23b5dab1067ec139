#include "runtime/loop.h"

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "runtime/batch.h"

namespace headrace::runtime {
namespace {

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

std::optional<double> seconds_since(Clock::time_point start, std::optional<Clock::time_point> at) {
  return at ? std::optional(seconds(*at - start)) : std::nullopt;
}

Timings timings_of(const Sequence& s, bool finished) {
  Timings t{.scheduled_s = seconds_since(s.queued, s.scheduled), .first_token_s = seconds_since(s.queued, s.first_token)};
  if (finished) t.finished_s = seconds(Clock::now() - s.queued);
  if (s.num_output() > 1) t.seconds_per_token = seconds(*s.last_token - *s.first_token) / (s.num_output() - 1);
  return t;
}

}  // namespace

Loop::Loop(Runner& runner, const ModelLimits& limits, const ExecutorOptions& options, Inbox& inbox, Outbox& outbox)
    : runner_(runner), limits_(limits), inbox_(inbox), outbox_(outbox),
      cache_(limits.num_blocks, limits.block_tokens, options.prefix_cache ? KvCache::Sharing::kPrefixes : KvCache::Sharing::kNone),
      scheduler_({.policy = options.policy,
                  .max_sequences = options.max_sequences,
                  .max_step_tokens = options.max_step_tokens,
                  .max_logit_rows = limits.max_logit_rows},
                 cache_) {
  update_stats(0);
}

void Loop::run() {
  while (step(has_work() ? Inbox::Wait::kNo : Inbox::Wait::kForMail)) {
  }
}

bool Loop::step(Inbox::Wait wait) {
  Inbox::Mail mail = inbox_.take(wait);
  const bool closed = mail.shutdown.has_value();
  take_in(std::move(mail));
  if (weights_) change_weights();
  if (!sequences_.empty()) {
    const auto start = Clock::now();
    run_chunks(scheduler_.next());
    update_stats(seconds(Clock::now() - start));
  } else {
    update_stats(0);
  }
  outbox_.publish(std::exchange(outgoing_, {}));
  return !closed || has_work();
}

void Loop::take_in(Inbox::Mail mail) {
  for (std::unique_ptr<Sequence>& sequence : mail.arrivals) {
    scheduler_.add(*sequence);
    sequences_.emplace(sequence->id, std::move(sequence));
  }
  if (mail.weights) weights_ = std::move(mail.weights);
  if (mail.shutdown == Shutdown::kCancel)
    for (const auto& [id, sequence] : sequences_) mail.cancels.push_back(id);
  for (RequestId id : mail.cancels)
    if (const auto at = sequences_.find(id); at != sequences_.end()) finish(*at->second, FinishReason::kCancelled);
}

void Loop::change_weights() {
  if (weights_->how == Refit::kRecompute) scheduler_.preempt_all();
  const bool wait = weights_->how == Refit::kDrain && scheduler_.has_begun();
  scheduler_.hold_back_new(wait);
  if (wait) return;
  cache_.forget_all();
  std::promise<void> done = std::move(weights_->done);
  std::exception_ptr error;
  try {
    weights_->apply();
  } catch (...) {
    error = std::current_exception();
  }
  weights_.reset();
  error ? done.set_exception(error) : done.set_value();
}

// ---------------------------------------------------------------------------------------------------------------- a step

void Loop::run_chunks(const std::vector<Chunk>& chunks) {
  const auto now = Clock::now();
  for (const Chunk& chunk : chunks) {
    if (chunk.sequence->scheduled) continue;
    chunk.sequence->scheduled = now;
    inbox_.left_queue(1);
    counts_.cached_prompt_tokens += chunk.sequence->num_cached;
  }
  ++counts_.steps;
  Runner::Results results;
  try {
    runner_.launch(make_batch(chunks), make_tasks(chunks));
    results = runner_.collect();
  } catch (const std::exception& e) {
    log(LogLevel::kWarning, "a step with {} sequences failed: {}", chunks.size(), e.what());
    ++counts_.failed_steps;
    for (const Chunk& chunk : chunks) finish(*chunk.sequence, FinishReason::kError, e.what());
    return;
  }
  for (const Chunk& chunk : chunks) {
    const size_t count = chunk.end - chunk.first_row;
    commit(chunk, results.rows.first(count), results.logits.first(count * limits_.vocab_size));
    results.rows = results.rows.subspan(count);
    results.logits = results.logits.subspan(count * limits_.vocab_size);
  }
}

std::vector<RowTask> Loop::make_tasks(std::span<const Chunk> chunks) const {
  std::vector<RowTask> tasks;
  for (const Chunk& chunk : chunks) {
    const Sequence& s = *chunk.sequence;
    for (int position = chunk.first_row; position < chunk.end; ++position) {
      RowTask& task = tasks.emplace_back();
      task.vocab_limit = s.request.sampling.vocab_limit;
      if (position + 1 < s.num_prompt && s.request.output.prompt_logprobs) {
        task.kind = RowTask::Kind::kScore;
        task.next = s.tokens[position + 1];
        task.num_top = s.request.output.prompt_logprobs;
      } else if (position + 1 == int(s.tokens.size()) && s.wants_next_token()) {
        task.kind = RowTask::Kind::kSample;
        task.sampling = {&s.request, &s.history, s.tokens, s.num_prompt, s.end_tokens, s.seed, s.processors};
        task.num_top = s.request.output.logprobs;
      }
    }
  }
  return tasks;
}

void Loop::commit(const Chunk& chunk, std::span<const RowResult> rows, std::span<const float> logits) {
  Sequence& s = *chunk.sequence;
  counts_.prompt_tokens += std::max(0, std::min(chunk.end, s.num_prompt) - chunk.begin);
  for (const RowResult& row : rows)
    if (row.error) return finish(s, FinishReason::kError, *row.error);
  try {
    report_rows(chunk, rows, logits);
  } catch (const std::exception& e) {
    return finish(s, FinishReason::kError, std::string("on_logits failed: ") + e.what());
  } catch (...) {
    return finish(s, FinishReason::kError, "on_logits failed with what is no std::exception");
  }
  s.num_computed = chunk.end;
  cache_.publish(s.table, s.tokens, chunk.end);
  if (chunk.end < int(s.tokens.size())) return;  // more of it to compute
  if (!s.wants_next_token()) return finish(s, FinishReason::kLength);
  append(s, rows.back());
}

void Loop::report_rows(const Chunk& chunk, std::span<const RowResult> rows, std::span<const float> logits) {
  Sequence& s = *chunk.sequence;
  if (!s.wants_all_logits()) return;
  if (s.request.output.on_logits && !rows.empty()) s.request.output.on_logits(chunk.first_row, logits, limits_.vocab_size);
  if (s.request.output.prompt_logprobs)
    for (int position = chunk.first_row; position < std::min(chunk.end, s.num_prompt - 1); ++position)
      s.unsent.prompt_logprobs.push_back(*rows[position - chunk.first_row].logprobs);
  s.num_reported = std::max(s.num_reported, chunk.end);
}

void Loop::append(Sequence& s, const RowResult& sampled) {
  s.last_token = Clock::now();
  if (!s.first_token) s.first_token = s.last_token;
  s.tokens.push_back(sampled.token);
  if (needs_history(s.request.sampling)) s.history.add_output(sampled.token);
  s.unsent.token_ids.push_back(sampled.token);
  if (sampled.logprobs) s.unsent.logprobs.push_back(*sampled.logprobs);
  ++counts_.generated_tokens;
  if (std::ranges::find(s.end_tokens, sampled.token) != s.end_tokens.end()) return finish(s, FinishReason::kStop);
  if (!s.wants_next_token()) return finish(s, FinishReason::kLength);
  if (s.request.streaming) send(s);
}

// ---------------------------------------------------------------------------------------------------------------- ends

// The sequence is gone afterwards.
void Loop::finish(Sequence& s, FinishReason reason, std::string error) {
  if (!s.scheduled) inbox_.left_queue(1);
  scheduler_.remove(s);
  s.unsent.finish = reason;
  s.unsent.error = std::move(error);
  send(s);
  ++counts_.finished_requests;
  sequences_.erase(s.id);
}

void Loop::send(Sequence& s) {
  s.unsent.id = s.id;
  s.unsent.num_prompt_tokens = s.num_prompt;
  s.unsent.num_cached_tokens = s.num_cached;
  s.unsent.timings = timings_of(s, s.unsent.finished());
  outgoing_.push_back(std::exchange(s.unsent, {}));
}

// ---------------------------------------------------------------------------------------------------------------- stats

void Loop::update_stats(double step_s) {
  counts_.running = int(scheduler_.running().size());
  counts_.kv_blocks = cache_.num_blocks();
  counts_.kv_blocks_used = cache_.num_used();
  counts_.kv_blocks_cached = cache_.num_cached();
  counts_.preemptions = scheduler_.num_preemptions();
  counts_.step_s += step_s;
  window_s_ += step_s;
  const int64_t new_tokens = counts_.generated_tokens - window_tokens_;
  if (window_s_ > 0 && (window_s_ >= 1 || window_tokens_ == 0)) counts_.tokens_per_s = double(new_tokens) / window_s_;
  if (window_s_ >= 1) {
    window_s_ = 0;
    window_tokens_ = counts_.generated_tokens;
  }
  const std::lock_guard lock(stats_mutex_);
  stats_ = counts_;
}

ExecutorStats Loop::stats() const {
  const std::lock_guard lock(stats_mutex_);
  ExecutorStats stats = stats_;
  stats.queued = inbox_.num_queued();
  return stats;
}

std::vector<const BlockTable*> Loop::tables() const {
  std::vector<const BlockTable*> tables;
  for (const auto& [id, sequence] : sequences_) tables.push_back(&sequence->table);
  return tables;
}

}  // namespace headrace::runtime
