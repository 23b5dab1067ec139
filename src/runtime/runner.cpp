#include "runtime/runner.h"

#include "core/error.h"
#include "core/thread_pool.h"

namespace headrace::runtime {

HostRunner::HostRunner(Model& model) : model_(model), samplers_(model.threads() ? model.threads()->size() : 1) {}

void HostRunner::launch(const Batch& batch, std::span<const RowTask> tasks) {
  results_.clear();
  logits_ = {};
  logits_ = model_.forward(batch);
  const size_t wanted = tasks.size() * model_.limits().vocab_size;
  if (logits_.size() != wanted) fail(ErrorCode::kInternal, "the model returned {} logits, {} were wanted", logits_.size(), wanted);
  results_.resize(tasks.size());
  ThreadPool* pool = model_.threads();
  if (pool && tasks.size() > 1) {
    pool->run([&](Team& team) {
      team.for_each(int64_t(tasks.size()), 1, [&](int64_t row, int64_t) { run_row(samplers_[team.rank()], row, tasks[row]); });
    });
  } else {
    for (size_t row = 0; row < tasks.size(); ++row) run_row(samplers_[0], row, tasks[row]);
  }
}

void HostRunner::run_row(Sampler& sampler, size_t row, const RowTask& task) {
  RowResult& result = results_[row];
  const size_t vocab_size = model_.limits().vocab_size;
  const std::span<const float> logits = logits_.subspan(row * vocab_size, vocab_size);
  try {
    if (task.kind == RowTask::Kind::kNone) return;
    result.token = task.kind == RowTask::Kind::kSample ? sampler.sample(logits, task.sampling) : task.next;
    if (task.num_top) result.logprobs = logprobs(logits, result.token, *task.num_top, task.vocab_limit);
  } catch (const std::exception& e) {
    result.error = e.what();
  }
}

}  // namespace headrace::runtime
