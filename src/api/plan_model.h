// A language model as the loop sees it: a program lowered to a device, with its paged KV cache.
#pragma once

#include "device/cpu/cpu_device.h"
#include "headrace/debug.h"
#include "headrace/engine.h"
#include "lowering/plan.h"
#include "runtime/model.h"

namespace headrace {

struct PlanModelOptions {
  int num_threads = 0;                 // 0: one per core
  int context = 0;                     // tokens of one sequence; 0: the model's
  std::shared_ptr<Debugger> debugger;  // may be null
};

class PlanModel : public runtime::Model {
 public:
  // Takes the engine's program; the weights are packed here. Throws Error: no decoder, weights that do not fit, no memory.
  PlanModel(Engine engine, const PlanModelOptions& options);
  const runtime::ModelLimits& limits() const override { return limits_; }
  std::span<const float> forward(const runtime::Batch& batch) override;
  ThreadPool* threads() override { return &lowered_.device->pool(); }
  std::function<void()> prepare_refit(std::shared_ptr<const WeightSource> weights) override;

  const Plan& plan() const { return *lowered_.plan; }
  int64_t kv_bytes_per_token() const { return kv_bytes_per_token_; }

 private:
  // An int32 input with memory of its own, so that its address stays while its size changes.
  class Input {
   public:
    Tensor fill(std::span<const int32_t> values, const Sizes& sizes);

   private:
    std::vector<int32_t> values_;
  };

  // The program with one set of weights. Each has a device object of its own, so that all of it goes when other weights come.
  struct Lowered {
    std::shared_ptr<CpuDevice> device;
    std::unique_ptr<Stream> stream;
    std::unique_ptr<Plan> plan;
  };
  Lowered lower(std::shared_ptr<const WeightSource> weights) const;
  void make_cache();
  void watch(std::shared_ptr<const WeightSource> weights);  // the plan that is lowered, if there is a debugger

  Engine engine_;  // its program is lowered again for other weights
  const int num_threads_;
  Lowered lowered_;
  std::shared_ptr<Debugger> debugger_;
  runtime::ModelLimits limits_;
  int64_t kv_bytes_per_token_ = 0;
  std::vector<Buffer> buffers_;          // one for each layer
  std::map<std::string, Tensor> cache_;  // by state: in the buffers
  std::vector<int32_t> slots_, tables_;
  std::map<std::string, Input> inputs_;
};

}  // namespace headrace
