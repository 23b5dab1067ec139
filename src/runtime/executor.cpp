#include "headrace/executor.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "core/thread_pool.h"
#include "runtime/loop.h"
#include "runtime/validate.h"

namespace headrace {

using namespace runtime;

std::string_view name(FinishReason reason) {
  constexpr std::string_view kNames[] = {"", "stop", "length", "cancelled", "error"};
  return kNames[int(reason)];
}

struct Executor::Impl {
  Impl(std::unique_ptr<Model> m, const ExecutorOptions& o)
      : model(std::move(m)), limits(model->limits()), options(resolve(o, limits)), runner(*model), inbox(options.max_queued),
        loop(runner, limits, options, inbox, outbox), thread([this] {
          if (model->threads()) model->threads()->pin_caller();
          loop.run();
        }) {}

  const std::unique_ptr<Model> model;
  const ModelLimits limits;
  const ExecutorOptions options;
  HostRunner runner;
  Inbox inbox;
  Outbox outbox;
  Loop loop;
  std::atomic<RequestId> last_id{0};
  std::mutex joining, refitting;
  std::thread thread;  // last: it uses all the others
};

Executor::Executor(std::unique_ptr<Model> model, ExecutorOptions options) : impl_(std::make_unique<Impl>(std::move(model), options)) {}
Executor::~Executor() {
  if (impl_) shutdown(Shutdown::kCancel);
}
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&& other) noexcept {
  if (impl_ && this != &other) shutdown(Shutdown::kCancel);
  impl_ = std::move(other.impl_);
  return *this;
}

RequestId Executor::enqueue(Request request) { return enqueue(std::move(request), nullptr); }

RequestId Executor::enqueue(Request request, ResponseCallback callback) {
  validate(request, impl_->limits);
  const RequestId id = ++impl_->last_id;
  auto processors = make_processors(request.sampling, impl_->options.logits_processors, impl_->limits.vocab_size);
  std::unique_ptr<Sequence> sequence =
      make_sequence(id, std::move(request), runtime::max_context(impl_->limits), impl_->options.eos_token_ids, std::move(processors));
  impl_->outbox.open(id, std::move(callback));
  try {
    impl_->inbox.add(std::move(sequence));
  } catch (...) {
    impl_->outbox.withdraw(id);
    throw;
  }
  return id;
}

std::optional<Response> Executor::await(RequestId id, std::optional<std::chrono::nanoseconds> timeout) {
  return impl_->outbox.await(id, timeout);
}
std::vector<Response> Executor::await_any(std::optional<std::chrono::nanoseconds> timeout) { return impl_->outbox.await_any(timeout); }
void Executor::cancel(RequestId id) { impl_->inbox.cancel(id); }

void Executor::discard(RequestId id) {
  impl_->outbox.discard(id);
  impl_->inbox.cancel(id);
}

void Executor::refit(std::shared_ptr<const WeightSource> weights, Refit how) {
  const std::lock_guard lock(impl_->refitting);
  const std::function<void()> apply = impl_->model->prepare_refit(std::move(weights));  // the old weights go with it, on this thread
  impl_->inbox.change_weights(how, apply).get();
}

ExecutorStats Executor::stats() const { return impl_->loop.stats(); }

void Executor::shutdown(Shutdown how) {
  if (impl_->outbox.on_callback_thread()) invalid("shutdown must not be called from a callback: it waits for the callbacks to end");
  impl_->inbox.close(how);
  const std::lock_guard lock(impl_->joining);
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->outbox.finish();
}

int Executor::max_context() const { return runtime::max_context(impl_->limits); }
int Executor::vocab_size() const { return impl_->limits.vocab_size; }

}  // namespace headrace
