// A language model as the loop sees it: a program lowered to a device, with its paged KV cache.
#pragma once

#include "device/cpu/cpu_device.h"
#include "headrace/engine.h"
#include "lowering/plan.h"
#include "runtime/model.h"

namespace headrace {

struct PlanModelOptions {
  int num_threads = 0;  // 0: one per core
  int context = 0;      // tokens of one sequence; 0: the model's
};

class PlanModel : public runtime::Model {
 public:
  // Takes the engine's program; the weights are packed here. Throws Error: no decoder, weights that do not fit, no memory.
  PlanModel(Engine engine, const PlanModelOptions& options);
  const runtime::ModelLimits& limits() const override { return limits_; }
  std::span<const float> forward(const runtime::Batch& batch) override;
  ThreadPool* threads() override { return &device_->pool(); }

  const Plan& plan() const { return *plan_; }
  int64_t kv_bytes_per_token() const { return kv_bytes_per_token_; }

 private:
  // An int32 input with memory of its own, so that its address stays while its size changes.
  class Input {
   public:
    Tensor fill(std::span<const int32_t> values, const Sizes& sizes);

   private:
    std::vector<int32_t> values_;
  };

  void make_cache(const std::vector<Value>& states);

  std::shared_ptr<CpuDevice> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Plan> plan_;
  runtime::ModelLimits limits_;
  int64_t kv_bytes_per_token_ = 0;
  std::vector<Buffer> cache_;  // one for each layer
  std::vector<int32_t> slots_, tables_;
  std::map<std::string, Input> inputs_;
};

}  // namespace headrace
