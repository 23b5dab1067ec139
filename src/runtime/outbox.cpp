#include "runtime/outbox.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/log.h"

namespace headrace::runtime {
namespace {

template <typename T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void merge(Response& earlier, Response&& later) {
  append(earlier.token_ids, std::move(later.token_ids));
  append(earlier.logprobs, std::move(later.logprobs));
  append(earlier.prompt_logprobs, std::move(later.prompt_logprobs));
  earlier.finish = later.finish;
  earlier.error = std::move(later.error);
  earlier.num_cached_tokens = later.num_cached_tokens;
  earlier.timings = later.timings;
}

template <typename Ready>
bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Outbox::Timeout timeout, Ready ready) {
  if (!timeout) return changed.wait(lock, ready), true;
  if (timeout->count() <= 0) return ready();
  // Longer than a year is for ever, and must not overflow the clock.
  return changed.wait_for(lock, std::min<std::chrono::nanoseconds>(*timeout, std::chrono::hours(24 * 365)), ready);
}

}  // namespace

void Outbox::open(RequestId id, ResponseCallback callback) {
  auto mailbox = std::make_shared<Mailbox>();
  mailbox->id = id;
  mailbox->callback = std::move(callback);
  const std::lock_guard lock(mutex_);
  num_awaited_ += !mailbox->callback;
  if (mailbox->callback && !callbacks_.joinable() && !finished_) {
    callbacks_ = std::thread([this] { run_callbacks(); });
    callback_thread_ = callbacks_.get_id();
  }
  mailboxes_.emplace(id, std::move(mailbox));
}

void Outbox::withdraw(RequestId id) {
  const std::lock_guard lock(mutex_);
  erase(id);
}

void Outbox::publish(std::vector<Response> responses) {
  if (responses.empty()) return;
  const std::lock_guard lock(mutex_);
  for (Response& response : responses) {
    Mailbox& mailbox = *mailboxes_.at(response.id);
    if (mailbox.discarded) {
      if (response.finished()) erase(response.id);
      continue;
    }
    if (mailbox.pending) {
      merge(*mailbox.pending, std::move(response));
      continue;  // its reader has been told
    }
    (mailbox.callback ? ready_callbacks_ : ready_).push_back(response.id);
    mailbox.pending = std::move(response);
    mailbox.changed.notify_all();
  }
  any_ready_.notify_all();
  callback_ready_.notify_one();
}

void Outbox::discard(RequestId id) {
  const std::lock_guard lock(mutex_);
  const auto at = mailboxes_.find(id);
  if (at == mailboxes_.end()) return;
  Mailbox& mailbox = *at->second;
  mailbox.discarded = true;
  mailbox.changed.notify_all();
  if (mailbox.callback) return;  // its thread takes what is pending
  const bool was_last = mailbox.pending && mailbox.pending->finished();
  mailbox.pending.reset();
  if (was_last) erase(id);
}

// Requires the lock, and a pending response.
Response Outbox::take(Mailbox& mailbox) {
  Response response = *std::move(mailbox.pending);
  mailbox.pending.reset();
  if (response.finished()) erase(mailbox.id);
  return response;
}

void Outbox::erase(RequestId id) {
  const auto at = mailboxes_.find(id);
  Mailbox& mailbox = *at->second;
  mailbox.closed = true;
  mailbox.changed.notify_all();
  num_awaited_ -= !mailbox.callback;
  if (num_awaited_ == 0) any_ready_.notify_all();
  mailboxes_.erase(at);
}

std::optional<Response> Outbox::await(RequestId id, Timeout timeout) {
  std::unique_lock lock(mutex_);
  const auto at = mailboxes_.find(id);
  if (at == mailboxes_.end())
    fail(ErrorCode::kNotFound, "request {} is unknown: its last response was taken already, or it never existed", id);
  const std::shared_ptr<Mailbox> mailbox = at->second;  // outlives the wait
  if (mailbox->callback) fail(ErrorCode::kNotFound, "request {} has a callback: its responses go there", id);
  if (!wait(mailbox->changed, lock, timeout, [&] { return mailbox->pending || mailbox->closed || mailbox->discarded; }))
    return std::nullopt;
  if (mailbox->closed || mailbox->discarded)
    fail(ErrorCode::kNotFound, "request {}: another thread took its last response or discarded it", id);
  return take(*mailbox);
}

std::vector<Response> Outbox::await_any(Timeout timeout) {
  std::vector<Response> responses;
  std::unique_lock lock(mutex_);
  wait(any_ready_, lock, timeout, [&] {
    while (!ready_.empty()) {
      const auto at = mailboxes_.find(ready_.front());
      ready_.pop_front();
      if (at != mailboxes_.end() && at->second->pending) responses.push_back(take(*at->second));
    }
    return !responses.empty() || num_awaited_ == 0;
  });
  return responses;
}

void Outbox::run_callbacks() {
  std::unique_lock lock(mutex_);
  while (true) {
    callback_ready_.wait(lock, [&] { return !ready_callbacks_.empty() || finished_; });
    if (ready_callbacks_.empty()) return;
    const auto at = mailboxes_.find(ready_callbacks_.front());
    ready_callbacks_.pop_front();
    if (at == mailboxes_.end()) continue;  // discarded
    const std::shared_ptr<Mailbox> mailbox = at->second;
    Response response = take(*mailbox);
    if (mailbox->discarded) continue;
    lock.unlock();
    try {
      mailbox->callback(std::move(response));
    } catch (const std::exception& e) {
      log(LogLevel::kWarning, "the callback of request {} failed: {}", mailbox->id, e.what());
    } catch (...) {
      log(LogLevel::kWarning, "the callback of request {} failed with what is no std::exception", mailbox->id);
    }
    lock.lock();
  }
}

bool Outbox::on_callback_thread() const {
  const std::lock_guard lock(mutex_);
  return std::this_thread::get_id() == callback_thread_;
}

void Outbox::finish() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  callback_ready_.notify_one();
  if (callbacks_.joinable()) callbacks_.join();
  const std::lock_guard lock(mutex_);
  callback_thread_ = {};  // the system may give its id to another
}

}  // namespace headrace::runtime
