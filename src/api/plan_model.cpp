#include "api/plan_model.h"

#include <unistd.h>

#include <algorithm>

#include "core/error.h"
#include "engine/inspect.h"
#include "engine/refit.h"
#include "lowering/weight_parameters.h"
#include "plugin/parts.h"

namespace headrace {
namespace {

constexpr int kBlockTokens = 16;
constexpr int kStepTokens = 512;
constexpr int kLogitRows = 64;
constexpr int kTableStep = 16;                     // block tables grow by so many columns, so that sizes seldom change
constexpr int kCheckContext = 1024;                // when kernels are checked: references read the whole cache each time
constexpr int kContextsCached = 8;                 // sequences of full length that the cache can hold, memory permitting
constexpr int64_t kMostCached = int64_t{1} << 26;  // tokens, however little one takes

// What the sampler reads must be what the program writes.
void check_logits(const Engine& engine) {
  for (const Graph::Output& output : engine.program.outputs()) {
    if (output.name != "logits") continue;
    const Shape& shape = output.value.shape();
    if (shape.rank() == 2 && shape[1] == Dim(engine.vocab_size)) return;
    invalid("{}: its logits are {}, {} are wanted for each token; build the engine again", engine.origin, shape.to_string(),
            engine.vocab_size);
  }
  invalid("{}: its program has no output 'logits'; build the engine again", engine.origin);
}

int64_t physical_memory() { return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE); }

}  // namespace

PlanModel::PlanModel(Engine engine, const PlanModelOptions& options) : engine_(std::move(engine)), num_threads_(options.num_threads) {
  if (engine_.kind != ModelKind::kDecoder)
    fail(ErrorCode::kUnsupported, "{}: is an encoder, which generates no text; Encoder and 'headrace embed' make vectors with it",
         engine_.origin);
  require_weights(engine_);
  check_logits(engine_);
  const DType dtype = kv_cache_dtype(engine_);
  kv_bytes_per_token_ = headrace::kv_bytes_per_token(engine_);
  std::vector<Value> states = engine_.program.leaves(Leaf::kState);
  for (const Value& kv : states) engine_.program.set_type(kv, {dtype, kv.shape()});
  engine_.program.infer_types();

  limits_.vocab_size = int(engine_.vocab_size);
  limits_.block_tokens = kBlockTokens;
  limits_.max_step_tokens = kStepTokens;
  limits_.max_logit_rows = kLogitRows;
  // Nothing of the cache costs memory before it is used; a quarter of the machine is the most that it may come to.
  const int64_t per_token = std::max<int64_t>(kv_bytes_per_token_, 1);
  const int64_t affordable = std::clamp<int64_t>(physical_memory() / 4 / per_token, kBlockTokens, kMostCached);
  const bool checks = options.debugger && options.debugger->options().check;
  const int64_t longest = std::min(engine_.max_positions, checks ? std::min<int64_t>(affordable, kCheckContext) : affordable);
  const int64_t wanted = options.context > 0 ? options.context : longest;
  if (wanted > engine_.max_positions)
    invalid("a context of {} tokens: {} was made for at most {}", wanted, engine_.origin, engine_.max_positions);
  if (wanted > affordable)
    fail(ErrorCode::kOutOfMemory, "a context of {} tokens needs {} MB of cache, {} MB are at hand; ask for at most {}", wanted,
         wanted * kv_bytes_per_token_ >> 20, physical_memory() / 4 >> 20, affordable);
  limits_.max_context = int(wanted);
  const int64_t cached = std::min(affordable, checks ? wanted : std::max<int64_t>(wanted * kContextsCached, 8 * kStepTokens));
  limits_.num_blocks = int(std::max((wanted + kBlockTokens - 1) / kBlockTokens + 1, cached / kBlockTokens));

  engine_.text = {};
  debugger_ = options.debugger;
  const std::shared_ptr<const WeightSource> weights = std::exchange(engine_.weights, nullptr);
  lowered_ = lower(weights);
  make_cache();
  watch(weights);
}

PlanModel::Lowered PlanModel::lower(std::shared_ptr<const WeightSource> weights) const {
  Lowered lowered{.device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = num_threads_})};
  lowered.stream = lowered.device->make_stream();
  WeightParameters parameters(engine_.program, std::move(weights));
  lowered.plan = std::make_unique<Plan>(engine_.program.clone(), lowered.device, kernels_of(engine_.plugins.get()), parameters,
                                        LoweringOptions{.arithmetic = engine_.exact ? Arithmetic::kExact : Arithmetic::kFast});
  for (const auto& [state, tensor] : cache_) lowered.plan->bind_state(state, tensor);
  return lowered;
}

std::function<void()> PlanModel::prepare_refit(std::shared_ptr<const WeightSource> weights) {
  if (!weights) invalid("{}: there are no weights to give it", engine_.origin);
  check_fit(engine_, *weights);
  const auto other = std::make_shared<Lowered>(lower(weights));
  return [this, other, weights] {
    std::swap(lowered_, *other);
    watch(weights);
  };
}

void PlanModel::watch(std::shared_ptr<const WeightSource> weights) {
  if (debugger_) debugger_->watch(*lowered_.plan, std::move(weights), engine_.exact);
}

void PlanModel::make_cache() {
  for (const Value& kv : engine_.program.leaves(Leaf::kState)) {
    const Sizes sizes{limits_.num_blocks, 2, kv.shape()[2].value(), limits_.block_tokens, kv.shape()[4].value()};
    const Tensor shape = Tensor::contiguous(nullptr, kv.dtype(), sizes);
    try {
      buffers_.push_back(lowered_.device->allocate(size_t(shape.bytes())));
    } catch (const Error& e) {
      throw Error(e.code, fmt::format("the cache of {} tokens: {}; ask for a smaller context",
                                      int64_t{limits_.num_blocks} * limits_.block_tokens, e.what()));
    }
    const Tensor memory = Tensor::contiguous(static_cast<void*>(buffers_.back().data()), kv.dtype(), sizes);
    cache_.emplace(kv.name(), memory);
    lowered_.plan->bind_state(kv.name(), memory);
  }
}

Tensor PlanModel::Input::fill(std::span<const int32_t> values, const Sizes& sizes) {
  if (values_.size() < values.size()) values_.resize(std::max(values.size() * 2, size_t{kStepTokens}));
  std::copy(values.begin(), values.end(), values_.begin());
  return Tensor::contiguous(static_cast<void*>(values_.data()), DType::kI32, sizes);
}

std::span<const float> PlanModel::forward(const runtime::Batch& batch) {
  const int sequences = batch.num_sequences(), tokens = batch.num_tokens();
  const int columns = (std::max(batch.max_blocks, 1) + kTableStep - 1) / kTableStep * kTableStep;
  tables_.assign(size_t(sequences) * size_t(columns), -1);
  slots_.resize(size_t(tokens));
  for (int s = 0; s < sequences; ++s) {
    const int32_t* row = batch.block_tables.data() + size_t(s) * size_t(batch.max_blocks);
    std::copy(row, row + batch.max_blocks, tables_.begin() + s * columns);
    for (int t = batch.sequence_offsets[size_t(s)]; t < batch.sequence_offsets[size_t(s) + 1]; ++t) {
      const int position = batch.positions[size_t(t)];
      slots_[size_t(t)] = row[position / limits_.block_tokens] * limits_.block_tokens + position % limits_.block_tokens;
    }
  }
  const std::map<std::string, Tensor> inputs{
      {"tokens", inputs_["tokens"].fill(batch.token_ids, {tokens})},
      {"positions", inputs_["positions"].fill(batch.positions, {tokens})},
      {"reach", inputs_["reach"].fill(batch.reach, {tokens})},
      {"sequence_offsets", inputs_["sequence_offsets"].fill(batch.sequence_offsets, {sequences + 1})},
      {"context_lengths", inputs_["context_lengths"].fill(batch.context_lengths, {sequences})},
      {"block_tables", inputs_["block_tables"].fill(tables_, {sequences, columns})},
      {"slots", inputs_["slots"].fill(slots_, {tokens})},
      {"logit_rows", inputs_["logit_rows"].fill(batch.logit_rows, {int64_t(batch.logit_rows.size())})},
  };
  if (debugger_) debugger_->name_next_run(tokens == sequences ? "decode" : "prefill");
  lowered_.plan->run(*lowered_.stream, inputs);
  const Tensor logits = lowered_.plan->output("logits");
  return {logits.as<float>(), size_t(logits.numel())};
}

}  // namespace headrace
