// Whether a graph, compiled and run, gives what its reference gives.
#pragma once

#include <optional>

#include "headrace/session.h"
#include "random_graphs/case.h"

namespace headrace::fuzzing {

// One way to run a graph; its passes, arithmetic, threads and device.
struct Variant {
  std::string name;
  SessionOptions session;
};
// Of every graph: all passes, with exact and with fast arithmetic, on one and on two threads.
std::vector<Variant> usual_variants();
// As it stands; without some passes; by one pass alone: two of them, chosen by the seed.
std::vector<Variant> some_variants(uint64_t seed);

struct Failure {
  std::string variant, message;
  std::string kind() const { return message.substr(0, message.find_first_of(" :(")); }  // a smaller graph's failure is of the same
};

struct Findings {
  std::optional<Failure> failure;
  bool decided = true;   // false: nothing was compared, for a half-precision value came too near to infinity, or a size is impossible
  double undecided = 0;  // share of elements that rounding decides
};

// Prints and parses the graph, compiles it as each variant says, prints and parses the result, compiles it again, which may change nothing
// more, and runs it: on the case's sizes, on others (one time in four), and on the first again.
Findings check(const Case& graph, const std::vector<Variant>& variants);

}  // namespace headrace::fuzzing
