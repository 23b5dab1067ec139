// What a step of a model costs at least: bytes that must be read, products that must be made.
#pragma once

#include "headrace/engine.h"

namespace headrace::cli {

struct ModelCost {
  int64_t num_parameters = 0;
  int64_t read_bytes = 0;          // of weights, by every step, as kernels hold them: all but tables that are only looked up
  int64_t kv_bytes_per_token = 0;  // read for every token of the context
  int64_t macs = 0;                // per token, in matrices, but for those that make logits
  int64_t logit_macs = 0;          // per row of logits
  DType dtype = DType::kF32;       // that most products are made with

  // Of one decode step of `batch` sequences with `context` tokens each.
  double step_bytes(int batch, double context) const { return double(read_bytes) + batch * context * double(kv_bytes_per_token); }
};

// Without read_bytes, which follow from the plan.
ModelCost cost_of(const Engine& engine);

}  // namespace headrace::cli
