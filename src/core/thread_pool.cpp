#include "core/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <system_error>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

void pause_cpu() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) cores.push_back(i);
  return cores;
}

void pin_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);  // failing costs speed only
}

// Waiting at a barrier: the others are at work, so spin; give the core away now and then in case they wait for it.
constexpr int kSpinsBeforeYield = 4000;
// Waiting for a region: about 100 us of spinning, then park.
constexpr int kSpinsBeforePark = 3000;
constexpr int kIndexBits = 40;

// Takes a thread out of a region that another has left by an exception.
struct Abandoned {};

}  // namespace

ThreadPool::ThreadPool(int num_threads) {
  cores_ = allowed_cores();
  size_ = num_threads > 0 ? num_threads : (cores_.empty() ? 1 : int(cores_.size()));
  if (int(cores_.size()) < size_) cores_.clear();
  workers_.reserve(size_t(size_ - 1));
  try {
    for (int rank = 1; rank < size_; ++rank) workers_.emplace_back([this, rank] { worker(rank); });
  } catch (const std::system_error& e) {
    const size_t started = workers_.size();
    stop();
    fail(ErrorCode::kOutOfMemory, "{} threads were wanted, the system gave {}: {}; ask for fewer", size_, started + 1, e.what());
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stop_.store(true);
  started_.fetch_add(1);
  started_.notify_all();
  for (std::thread& w : workers_) w.join();
}

void ThreadPool::pin_caller() const {
  if (!cores_.empty()) pin_this_thread(cores_[0]);
}

void ThreadPool::worker(int rank) {
  if (!cores_.empty()) pin_this_thread(cores_[rank]);
  for (uint32_t seen = 0;;) {
    uint32_t now = started_.load(std::memory_order_acquire);
    for (int spins = 0; now == seen; now = started_.load(std::memory_order_acquire)) {
      if (++spins < kSpinsBeforePark) pause_cpu();
      else started_.wait(seen, std::memory_order_acquire);
    }
    seen = now;
    if (stop_.load()) return;
    Team team(*this, rank, size_);
    take_part(team);
    unfinished_.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::take_part(Team& team) {
  try {
    region_.invoke(region_.body, team);
  } catch (const Abandoned&) {
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
  }
}

void ThreadPool::run_region(Region region) {
  region_ = region;
  waiting_.store(0, std::memory_order_relaxed);  // a region that failed may have left some
  failed_.store(false, std::memory_order_relaxed);
  loop_.store(0, std::memory_order_relaxed);
  unfinished_.store(size_ - 1, std::memory_order_relaxed);
  if (size_ > 1) {
    started_.fetch_add(1, std::memory_order_release);
    started_.notify_all();
  }
  Team team(*this, 0, size_);
  take_part(team);
  for (int spins = 0; unfinished_.load(std::memory_order_acquire) != 0;) {
    if (++spins % kSpinsBeforeYield == 0) sched_yield();
    else pause_cpu();
  }
  if (failed_.load(std::memory_order_relaxed)) std::rethrow_exception(std::exchange(error_, nullptr));
}

uint32_t Team::arrive() {
  const uint32_t passed = pool_.barriers_.load(std::memory_order_relaxed);
  if (pool_.waiting_.fetch_add(1, std::memory_order_acq_rel) == size_ - 1) {
    pool_.waiting_.store(0, std::memory_order_relaxed);
    pool_.barriers_.store(passed + 1, std::memory_order_release);
  }
  return passed;
}

void Team::wait_for_all(uint32_t arrival) {
  for (int spins = 0; pool_.barriers_.load(std::memory_order_acquire) == arrival;) {
    if (pool_.failed_.load(std::memory_order_relaxed)) throw Abandoned();
    if (++spins % kSpinsBeforeYield == 0) sched_yield();
    else pause_cpu();
  }
}

// One word serves all loops of a region: a thread that comes late to a loop and finds a later number there knows that the loop
// has no indices left, for nobody leaves a loop before they are all taken.
int64_t Team::take(int64_t count, int64_t grain) {
  constexpr uint64_t kIndexMask = (uint64_t{1} << kIndexBits) - 1;
  uint64_t word = pool_.loop_.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t at = uint32_t(word >> kIndexBits);
    int64_t next = int64_t(word & kIndexMask);
    const int32_t ahead = int32_t((at - loop_) << 8) >> 8;  // the loop number has 24 bits and wraps
    if (ahead > 0) return count;
    if (ahead < 0) next = 0;
    if (next >= count && ahead == 0) return count;
    const uint64_t taken = uint64_t(loop_ & 0xffffffu) << kIndexBits | uint64_t(next + grain);
    if (pool_.loop_.compare_exchange_weak(word, taken, std::memory_order_relaxed)) return next;
  }
}

}  // namespace headrace
