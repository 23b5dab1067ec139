// Ranks that are threads of one process. A collective is a meeting: the last rank to come does the work for all of them, which is slow and
// obvious: this is the reference of the other transports.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>

#include "comm/reduce_ranks.h"
#include "core/error.h"

namespace headrace {
namespace {

// What one rank wants of a meeting.
struct Wish {
  std::string call;  // "all_reduce sum f32[4]": the same on every rank
  Tensor input, output;
};

class Group {
 public:
  explicit Group(int size) : wishes_(size_t(size)), gone_(size_t(size)), mail_(size_t(size) * size_t(size)) {}
  int size() const { return int(wishes_.size()); }

  // Waits for the wishes of all ranks; work(wishes) runs once, on the last to come.
  template <typename Work>
  void meet(int rank, Wish wish, Work work) {
    std::unique_lock lock(mutex_);
    check();
    wishes_[size_t(rank)] = std::move(wish);
    if (++arrived_ < size()) {
      const int64_t meeting = meetings_;
      const auto gone = [&] { return std::find(gone_.begin(), gone_.end(), true); };
      changed_.wait(lock, [&] { return meetings_ != meeting || failure_ || gone() != gone_.end(); });
      if (meetings_ != meeting) return;
      --arrived_;
      check();
      fail_gone(int(gone() - gone_.begin()));
    }
    for (int other = 1; other < size(); ++other)
      if (wishes_[size_t(other)].call != wishes_[0].call)
        break_with(
            fmt::format("ranks do not agree: rank 0 calls {}, rank {} calls {}", wishes_[0].call, other, wishes_[size_t(other)].call));
    check();
    work(wishes_);
    arrived_ = 0;
    ++meetings_;
    changed_.notify_all();
  }

  void post(int from, int to, const Tensor& tensor) {
    const std::lock_guard lock(mutex_);
    check();
    HostTensor letter(tensor.dtype, tensor.sizes);
    std::memcpy(letter.as<std::byte>(), tensor.data, size_t(tensor.bytes()));
    box(from, to).push_back(std::move(letter));
    changed_.notify_all();
  }

  void take(int from, int to, const Tensor& output) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !box(from, to).empty() || failure_ || gone_[size_t(from)]; });
    if (box(from, to).empty()) {
      check();
      fail_gone(from);
    }
    const HostTensor letter = std::move(box(from, to).front());
    box(from, to).pop_front();
    const Tensor& sent = letter.view();
    if (sent.dtype != output.dtype || sent.sizes != output.sizes) {
      break_with(fmt::format("ranks do not agree: rank {} sends {}{}, rank {} wants to receive {}{}", from, name(sent.dtype),
                             sent.sizes.to_string(), to, name(output.dtype), output.sizes.to_string()));
      check();
    }
    std::memcpy(output.data, sent.data, size_t(output.bytes()));
  }

  void fail_all(std::string reason) {
    const std::lock_guard lock(mutex_);
    break_with(std::move(reason));
  }

  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    gone_[size_t(rank)] = true;
    changed_.notify_all();
  }

 private:
  void check() const {
    if (failure_) fail(ErrorCode::kInvalidArgument, "{}", *failure_);
  }
  [[noreturn]] static void fail_gone(int rank) { fail(ErrorCode::kInvalidArgument, "rank {} has gone", rank); }
  void break_with(std::string reason) {  // the first reason is the one that counts
    if (!failure_) failure_ = std::move(reason);
    changed_.notify_all();
  }
  std::deque<HostTensor>& box(int from, int to) { return mail_[size_t(from) * wishes_.size() + size_t(to)]; }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Wish> wishes_;  // by rank
  int arrived_ = 0;
  int64_t meetings_ = 0;    // how many are over
  std::vector<bool> gone_;  // by rank
  std::vector<std::deque<HostTensor>> mail_;
  std::optional<std::string> failure_;
};

std::string type_text(const Tensor& t) { return fmt::format("{}{}", name(t.dtype), t.sizes.to_string()); }

class LocalCommunicator : public Communicator {
 public:
  LocalCommunicator(std::shared_ptr<Group> group, int rank) : group_(std::move(group)), rank_(rank) {}
  ~LocalCommunicator() override { group_->leave(rank_); }
  int rank() const override { return rank_; }
  int size() const override { return group_->size(); }

  void all_reduce(const Tensor& input, const Tensor& output, RankReduction reduction) override {
    want(input.dtype == output.dtype && input.sizes == output.sizes, "all_reduce", input, output);
    const std::string call = fmt::format("all_reduce {} {}", enum_names(reduction)[size_t(reduction)], type_text(input));
    group_->meet(rank_, {call, input, output}, [&](std::span<const Wish> wishes) {
      HostTensor result(input.dtype, input.sizes);  // nobody's output yet: it may be another's input
      reduce(wishes, 0, result.as<void>(), input.numel(), reduction);
      for (const Wish& w : wishes) std::memcpy(w.output.data, result.as<void>(), size_t(input.bytes()));
    });
  }

  void all_gather(const Tensor& input, const Tensor& output) override {
    want(input.dtype == output.dtype && output.numel() == input.numel() * size(), "all_gather", input, output);
    group_->meet(rank_, {"all_gather " + type_text(input), input, output}, [&](std::span<const Wish> wishes) {
      for (const Wish& to : wishes)
        for (size_t from = 0; from < wishes.size(); ++from)
          std::memcpy(to.output.as<std::byte>() + int64_t(from) * input.bytes(), wishes[from].input.data, size_t(input.bytes()));
    });
  }

  void reduce_scatter(const Tensor& input, const Tensor& output, RankReduction reduction) override {
    want(input.dtype == output.dtype && input.numel() == output.numel() * size(), "reduce_scatter", input, output);
    const std::string call = fmt::format("reduce_scatter {} {}", enum_names(reduction)[size_t(reduction)], type_text(input));
    group_->meet(rank_, {call, input, output}, [&](std::span<const Wish> wishes) {
      for (size_t to = 0; to < wishes.size(); ++to)
        reduce(wishes, int64_t(to) * output.bytes(), wishes[to].output.data, output.numel(), reduction);
    });
  }

  void send(const Tensor& input, int peer) override {
    want_peer("send", peer);
    group_->post(rank_, peer, input);
  }
  void recv(const Tensor& output, int peer) override {
    want_peer("recv", peer);
    group_->take(peer, rank_, output);
  }
  void barrier() override {
    group_->meet(rank_, {"barrier", {}, {}}, [](std::span<const Wish>) {});
  }
  void abort(const std::string& reason) override { group_->fail_all(fmt::format("rank {} has failed: {}", rank_, reason)); }

 private:
  static void reduce(std::span<const Wish> wishes, int64_t offset_bytes, void* output, int64_t count, RankReduction reduction) {
    std::vector<const void*> inputs;
    for (const Wish& w : wishes) inputs.push_back(w.input.as<std::byte>() + offset_bytes);
    reduce_ranks(wishes[0].input.dtype, inputs, output, count, reduction);
  }
  void want(bool condition, const char* call, const Tensor& input, const Tensor& output) const {
    if (!condition) invalid("{}: over {} ranks, {} does not become {}", call, size(), type_text(input), type_text(output));
  }
  void want_peer(const char* call, int peer) const {
    if (peer < 0 || peer >= size() || peer == rank_)
      invalid("{}: rank {} of {} cannot reach rank {}: another of the ranks 0 to {} is wanted", call, rank_, size(), peer, size() - 1);
  }

  std::shared_ptr<Group> group_;
  int rank_;
};

}  // namespace

std::vector<std::shared_ptr<Communicator>> local_communicators(int size) {
  if (size < 1) invalid("{} ranks: 1 or more are wanted", size);
  const auto group = std::make_shared<Group>(size);
  std::vector<std::shared_ptr<Communicator>> ends;
  for (int rank = 0; rank < size; ++rank) ends.push_back(std::make_shared<LocalCommunicator>(group, rank));
  return ends;
}

}  // namespace headrace
