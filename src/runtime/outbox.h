// Responses on their way from the loop to whoever awaits them, or to callbacks. The loop never waits here: what a slow reader has
// not taken yet is merged into one response per request.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "headrace/executor.h"

namespace headrace::runtime {

class Outbox {
 public:
  using Timeout = std::optional<std::chrono::nanoseconds>;

  Outbox() = default;
  ~Outbox() { finish(); }

  // Before the loop can know of the request. An empty callback: responses are awaited.
  void open(RequestId id, ResponseCallback callback);
  // The loop never got to know of it.
  void withdraw(RequestId id);
  void publish(std::vector<Response> responses);
  // Nobody wants the responses of this request. Does nothing if it is unknown.
  void discard(RequestId id);

  // As Executor's.
  std::optional<Response> await(RequestId id, Timeout timeout);
  std::vector<Response> await_any(Timeout timeout);

  // Nothing is published any more. Returns when all callbacks have been called.
  void finish();
  bool on_callback_thread() const;

 private:
  struct Mailbox {
    RequestId id = 0;
    ResponseCallback callback;
    std::optional<Response> pending;
    bool closed = false;     // the last response was taken
    bool discarded = false;  // no response will be
    std::condition_variable changed;
  };
  Response take(Mailbox& mailbox);
  void erase(RequestId id);
  void run_callbacks();

  mutable std::mutex mutex_;
  std::unordered_map<RequestId, std::shared_ptr<Mailbox>> mailboxes_;  // shared with threads that wait at one
  size_t num_awaited_ = 0;                                             // mailboxes without callback
  std::deque<RequestId> ready_, ready_callbacks_;                      // with a pending response; may name some that are gone since
  std::condition_variable any_ready_, callback_ready_;
  bool finished_ = false;
  std::thread callbacks_;            // starts with the first request that has one
  std::thread::id callback_thread_;  // its id; kept here because finish() joins it without the lock
};

}  // namespace headrace::runtime
