// Runs a step: the model's forward, then sampling. This is the place where a device that samples by itself joins: launch() hands
// over everything that a step needs, collect() waits for what came of it.
#pragma once

#include "runtime/model.h"
#include "runtime/sampling.h"

namespace headrace::runtime {

// What is wanted of one row of logits.
struct RowTask {
  enum class Kind { kNone, kScore, kSample };
  Kind kind = Kind::kNone;
  SamplingTask sampling;       // kSample
  int32_t next = 0;            // kScore: the token whose log-probability is wanted
  std::optional<int> num_top;  // log-probabilities are wanted, with those of so many likeliest
  int vocab_limit = 0;         // among ids below; 0: among all
};

struct RowResult {
  int32_t token = 0;  // kSample: the one chosen
  std::optional<TokenLogprobs> logprobs;
  std::optional<std::string> error;  // this row failed, the others did not
};

class Runner {
 public:
  virtual ~Runner() = default;
  // tasks[i] belongs to batch.logit_rows[i]. What tasks point to stays unchanged until collect. May throw.
  virtual void launch(const Batch& batch, std::span<const RowTask> tasks) = 0;
  struct Results {
    std::span<const RowResult> rows;
    std::span<const float> logits;  // (rows, vocabulary)
  };
  // Of the step launched; valid until the next launch. May throw: nothing came of the step then.
  virtual Results collect() = 0;
};

// Forward on a Model, sampling on the CPU, rows shared among the model's threads.
class HostRunner : public Runner {
 public:
  explicit HostRunner(Model& model);
  void launch(const Batch& batch, std::span<const RowTask> tasks) override;
  Results collect() override { return {results_, logits_}; }

 private:
  void run_row(Sampler& sampler, size_t row, const RowTask& task);

  Model& model_;
  std::vector<Sampler> samplers_;  // one per thread
  std::span<const float> logits_;
  std::vector<RowResult> results_;
};

}  // namespace headrace::runtime
