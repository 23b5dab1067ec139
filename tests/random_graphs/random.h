// Choices that are the same for the same seed on every machine, which <random>'s distributions are not.
#pragma once

#include <cstdint>
#include <iterator>

namespace headrace::fuzzing {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {  // SplitMix64: Steele, Lea and Flood 2014
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t limit) { return int64_t(bits() % uint64_t(limit)); }
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  double uniform() { return double(bits() >> 11) / double(int64_t{1} << 53); }  // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  template <typename List>
  const auto& pick(const List& list) {
    return *std::next(std::begin(list), below(int64_t(std::size(list))));
  }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return *(list.begin() + below(int64_t(list.size())));
  }

 private:
  uint64_t state_;
};

}  // namespace headrace::fuzzing
