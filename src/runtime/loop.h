// The loop: one thread owns all that changes while sequences are served. A step is
//   mail      take in arrivals, cancel; other weights, when their time has come
//   schedule  which tokens of which sequence        (Scheduler, KvCache)
//   run       forward, sampling                     (Runner)
//   commit    append tokens, publish blocks, finish, tell the callers
// A step that fails fails its sequences. Today a step is collected at once; to overlap steps, collect the one before after launching.
#pragma once

#include "runtime/inbox.h"
#include "runtime/outbox.h"
#include "runtime/runner.h"
#include "runtime/scheduler.h"

namespace headrace::runtime {

class Loop {
 public:
  // `options` as resolve() returns them.
  Loop(Runner& runner, const ModelLimits& limits, const ExecutorOptions& options, Inbox& inbox, Outbox& outbox);

  // Until the inbox is closed and nothing is left to do.
  void run();
  // Takes in mail and makes one step if there is something to do. Never waits, except in run(). False when all is done and closed.
  bool step(Inbox::Wait wait = Inbox::Wait::kNo);

  // From any thread.
  ExecutorStats stats() const;

  // For tests; not while run() runs.
  const KvCache& cache() const { return cache_; }
  std::vector<const BlockTable*> tables() const;

 private:
  bool has_work() const { return !sequences_.empty() || weights_; }
  void take_in(Inbox::Mail mail);
  void change_weights();
  void run_chunks(const std::vector<Chunk>& chunks);
  std::vector<RowTask> make_tasks(std::span<const Chunk> chunks) const;
  void commit(const Chunk& chunk, std::span<const RowResult> rows, std::span<const float> logits);
  void report_rows(const Chunk& chunk, std::span<const RowResult> rows, std::span<const float> logits);
  void append(Sequence& sequence, const RowResult& sampled);
  void finish(Sequence& sequence, FinishReason reason, std::string error = {});
  void send(Sequence& sequence);
  void update_stats(double step_s);

  Runner& runner_;
  const ModelLimits limits_;
  Inbox& inbox_;
  Outbox& outbox_;
  KvCache cache_;
  Scheduler scheduler_;
  std::unordered_map<RequestId, std::unique_ptr<Sequence>> sequences_;
  std::unique_ptr<WeightChange> weights_;  // that wait until what has begun is finished
  std::vector<Response> outgoing_;
  ExecutorStats counts_;  // the loop's own
  double window_s_ = 0;
  int64_t window_tokens_ = 0;
  mutable std::mutex stats_mutex_;
  ExecutorStats stats_;  // the copy that others read
};

}  // namespace headrace::runtime
