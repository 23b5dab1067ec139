#include "runtime/inbox.h"

#include "core/error.h"

namespace headrace::runtime {

void Inbox::add(std::unique_ptr<Sequence> sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (mail_.shutdown) fail(ErrorCode::kUnsupported, "the executor has been shut down: it accepts no more requests");
    if (max_queued_ > 0 && num_queued_ >= max_queued_)
      fail(ErrorCode::kOutOfMemory, "the queue is full: {} requests are waiting, max_queued is {}. Try again later", num_queued_,
           max_queued_);
    mail_.arrivals.push_back(std::move(sequence));
    ++num_queued_;
  }
  changed_.notify_one();
}

void Inbox::cancel(RequestId id) {
  {
    const std::lock_guard lock(mutex_);
    mail_.cancels.push_back(id);
  }
  changed_.notify_one();
}

std::future<void> Inbox::change_weights(Refit how, std::function<void()> apply) {
  auto change = std::make_unique<WeightChange>(how, std::move(apply));
  std::future<void> done = change->done.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (mail_.shutdown) fail(ErrorCode::kUnsupported, "the executor has been shut down: it takes no other weights");
    mail_.weights = std::move(change);
  }
  changed_.notify_one();
  return done;
}

void Inbox::close(Shutdown how) {
  {
    const std::lock_guard lock(mutex_);
    if (mail_.shutdown != Shutdown::kCancel) mail_.shutdown = how;
  }
  changed_.notify_one();
}

Inbox::Mail Inbox::take(Wait wait) {
  std::unique_lock lock(mutex_);
  if (wait == Wait::kForMail)
    changed_.wait(lock, [&] { return !mail_.arrivals.empty() || !mail_.cancels.empty() || mail_.weights || mail_.shutdown; });
  Mail mail{.weights = std::move(mail_.weights), .shutdown = mail_.shutdown};
  mail.arrivals.swap(mail_.arrivals);
  mail.cancels.swap(mail_.cancels);
  return mail;
}

void Inbox::left_queue(int count) {
  const std::lock_guard lock(mutex_);
  num_queued_ -= count;
}

int Inbox::num_queued() const {
  const std::lock_guard lock(mutex_);
  return num_queued_;
}

}  // namespace headrace::runtime
