// Long runs of random graphs.
//   random_graphs --seed A --count N [--shrink]     graphs A to A + N - 1
//   random_graphs [--shrink] FILE...                graphs that it has printed
// Prints each graph that fails, made small with --shrink, with what is needed to run it again. Exit status 1 when one failed.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "random_graphs/apart.h"
#include "random_graphs/shrink.h"

namespace {

using namespace headrace;
using namespace headrace::fuzzing;

struct Options {
  uint64_t seed = 1, count = 0;
  bool shrink = false, print = false;
  std::vector<std::string> files;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--shrink") options.shrink = true;
    else if (word == "--print") options.print = true;
    else if (word == "--seed" && i + 1 < argc) options.seed = std::stoull(argv[++i]);
    else if (word == "--count" && i + 1 < argc) options.count = std::stoull(argv[++i]);
    else if (word[0] != '-') options.files.push_back(word);
    else invalid("usage: {} [--seed A] [--count N] [--shrink] [--print] [FILE...]", argv[0]);
  }
  return options;
}

class Runner {
 public:
  explicit Runner(const Options& options) : options_(options) {}

  void run(const std::string& what, const Case& graph, uint64_t variants_seed) {
    if (options_.print) std::printf("# %s\n%s", what.c_str(), graph.to_text().c_str());
    std::vector<Variant> variants = usual_variants();
    for (Variant& v : some_variants(variants_seed)) variants.push_back(std::move(v));
    const Findings findings = check_apart(graph, variants);
    ++graphs_;
    skipped_ += !findings.decided;
    undecided_ += findings.undecided;
    if (findings.failure) report(what, graph, *findings.failure, variants);
  }

  int finish() const {
    std::printf("%d graphs: %d failed, %d compared nothing, %.2f %% of elements undecided by rounding\n", graphs_, failed_, skipped_,
                100 * undecided_ / std::max(graphs_ - skipped_, 1));
    return failed_ ? 1 : 0;
  }

 private:
  void report(const std::string& what, const Case& graph, const Failure& failure, const std::vector<Variant>& variants) {
    ++failed_;
    Case small = graph.clone();
    Failure last = failure;
    if (options_.shrink) {
      std::vector<Variant> failing = variants;
      std::erase_if(failing, [&](const Variant& v) { return v.name != failure.variant; });
      if (failing.empty()) failing = variants;  // a crash
      small = shrink(std::move(small), [&](const Case& candidate) {
        const Findings found = check_apart(candidate, failing);
        if (!found.failure || found.failure->kind() != failure.kind()) return false;
        last = *found.failure;
        return true;
      });
    }
    std::printf("# %s fails (%s): %s\n%s\n", what.c_str(), last.variant.c_str(), last.message.c_str(), small.to_text().c_str());
    std::fflush(stdout);
  }

  const Options& options_;
  int graphs_ = 0, failed_ = 0, skipped_ = 0;
  double undecided_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    Runner runner(options);
    for (uint64_t seed = options.seed; seed < options.seed + options.count; ++seed)
      runner.run("graph " + std::to_string(seed), random_case(seed), seed);
    for (const std::string& path : options.files) {
      std::ifstream file(path);
      if (!file) fail(ErrorCode::kNotFound, "{} cannot be read", path);
      const Case graph = Case::parse(std::string(std::istreambuf_iterator<char>(file), {}));
      runner.run(path, graph, graph.data_seed);
    }
    return runner.finish();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
