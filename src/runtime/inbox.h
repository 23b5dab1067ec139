// What callers ask of the loop, from any thread. The loop empties it between steps.
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>

#include "runtime/sequence.h"

namespace headrace::runtime {

// Other weights that are ready: a call of `apply` between two steps puts them in place.
struct WeightChange {
  Refit how = Refit::kDrain;
  std::function<void()> apply;
  std::promise<void> done;
};

class Inbox {
 public:
  // At most max_queued sequences may be waiting to start; 0: any number.
  explicit Inbox(int max_queued) : max_queued_(max_queued) {}

  // Throws Error: kUnsupported once closed, kOutOfMemory when too many wait.
  void add(std::unique_ptr<Sequence> sequence);
  void cancel(RequestId id);
  // One at a time: the next when this one is done. Throws Error(kUnsupported) once closed.
  std::future<void> change_weights(Refit how, std::function<void()> apply);
  // Nothing is added from now on. Closing with kCancel overrules kDrain.
  void close(Shutdown how);

  struct Mail {
    std::vector<std::unique_ptr<Sequence>> arrivals;
    std::vector<RequestId> cancels;  // to be looked at after the arrivals
    std::unique_ptr<WeightChange> weights;
    std::optional<Shutdown> shutdown;
  };
  enum class Wait { kNo, kForMail };
  // shutdown is repeated in every mail once the inbox is closed, and ends every wait.
  Mail take(Wait wait);

  // The loop says how many have started, or ended before that.
  void left_queue(int count);
  int num_queued() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Mail mail_;
  const int max_queued_;
  int num_queued_ = 0;
};

}  // namespace headrace::runtime
