// A small team of threads for data-parallel work. A region runs one function on every thread; inside it the threads meet at
// barriers and share loops. Threads spin briefly for the next region and then park, so an idle pool costs nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace headrace {

class ThreadPool;

// What one thread of a region sees. Every thread must make the same calls to barrier (or its halves) and for_each in
// the same order.
class Team {
 public:
  int rank() const { return rank_; }
  int size() const { return size_; }
  // Leaves by an exception, which is not to be caught, when another thread of the region left by one and will not come.
  void barrier() { wait_for_all(arrive()); }
  // The two halves of a barrier: between them a thread may do what needs nobody else.
  uint32_t arrive();
  void wait_for_all(uint32_t arrival);

  // Calls body(begin, end) for chunks of at most `grain` of [0, count), each on whichever thread is free. No barrier at the end.
  template <typename Body>
  void for_each(int64_t count, int64_t grain, Body&& body) {
    ++loop_;
    for (int64_t begin = 0; (begin = take(count, grain)) < count;) body(begin, begin + grain < count ? begin + grain : count);
  }

  struct Range {
    int64_t begin, end;
  };
  // This thread's fixed share of [0, count), cut at multiples of `grain`.
  Range share(int64_t count, int64_t grain = 1) const { return share_of(rank_, count, grain); }
  Range share_of(int rank, int64_t count, int64_t grain = 1) const {
    const int64_t units = (count + grain - 1) / grain;
    const int64_t begin = units * rank / size_ * grain, end = units * (rank + 1) / size_ * grain;
    return {begin < count ? begin : count, end < count ? end : count};
  }

 private:
  friend class ThreadPool;
  Team(ThreadPool& pool, int rank, int size) : pool_(pool), rank_(rank), size_(size) {}
  int64_t take(int64_t count, int64_t grain);
  ThreadPool& pool_;
  int rank_, size_;
  uint32_t loop_ = 0;  // how many shared loops this thread has entered in this region
};

class ThreadPool {
 public:
  // num_threads counts the caller of run, which works as rank 0; 0 means one per available core. Workers are pinned to
  // the process's allowed cores, one each, while there are enough. Throws Error(kOutOfMemory) when the system has not so many threads.
  explicit ThreadPool(int num_threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Runs body(Team&) on every thread and returns when all are done. One region at a time. When body throws on a thread, the others
  // go on to their next barrier at most; the first exception comes out here, and the pool is as good as before.
  template <typename Body>
  void run(Body&& body) {
    run_region({[](void* b, Team& team) { (*static_cast<std::remove_reference_t<Body>*>(b))(team); },
                const_cast<void*>(static_cast<const void*>(std::addressof(body)))});
  }

  // Pins the calling thread to the core that rank 0 is meant to have. For a thread that lives to call run.
  void pin_caller() const;

 private:
  friend class Team;
  struct Region {
    void (*invoke)(void*, Team&) = nullptr;
    void* body = nullptr;
  };
  void run_region(Region region);
  void take_part(Team& team);
  void worker(int rank);
  void stop();

  int size_;
  std::vector<int> cores_;  // allowed cores; empty when there are fewer than threads
  Region region_;
  alignas(64) std::atomic<uint32_t> started_{0};   // number of regions begun
  alignas(64) std::atomic<int> unfinished_{0};     // workers still inside the region
  alignas(64) std::atomic<int> waiting_{0};        // threads at the barrier
  alignas(64) std::atomic<uint32_t> barriers_{0};  // barriers passed
  std::atomic<bool> failed_{false};                // a thread has left the region by an exception
  alignas(64) std::atomic<uint64_t> loop_{0};      // (loop number << 40) | next index
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;  // of the thread that set failed_
  std::vector<std::thread> workers_;
};

}  // namespace headrace
