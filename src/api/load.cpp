#include "api/load.h"

#include <algorithm>

#include "api/plan_model.h"
#include "api/text_loader.h"
#include "build/builder.h"
#include "core/context.h"
#include "core/log.h"
#include "engine/engine_file.h"

namespace headrace {
namespace {

WeightDType parse_weight_dtype(const std::string& dtype) {
  if (dtype == "auto") return WeightDType::kAuto;
  if (dtype == "fp32" || dtype == "float32") return WeightDType::kF32;
  if (dtype == "bf16" || dtype == "bfloat16") return WeightDType::kBF16;
  if (dtype == "fp16" || dtype == "float16" || dtype == "half") return WeightDType::kF16;
  invalid("dtype '{}' is not known; wanted auto, fp32, bf16 or fp16", printable(dtype));
}

void check_device(const std::string& device) {
  if (device == "auto" || device == "cpu") return;
  fail(ErrorCode::kUnsupported, "device '{}': this build of Headrace runs on 'cpu' only", printable(device));
}

}  // namespace

Engine load_engine(const std::string& path, const LoadOptions& options) {
  check_device(options.device);
  const WeightDType dtype = parse_weight_dtype(options.dtype);
  if (is_engine_file(path)) {
    if (options.random_weights) invalid("{}: is an engine; random weights want a config.json or a checkpoint's folder", path);
    Engine engine = read_engine(path);
    if (dtype == WeightDType::kF32) engine.exact = true;
    else if (dtype != WeightDType::kAuto)
      invalid("{}: an engine's weights are what they were built as; build it with --dtype {}", path, options.dtype);
    return engine;
  }
  return build_engine(path, {.dtype = dtype, .random_weights = options.random_weights});
}

ModelText load_text(const Engine& engine) {
  ModelText text;
  if (engine.text.empty()) return text;
  return with_context(engine.origin, [&] {
    text.tokenizer = make_tokenizer(engine.text);
    try {
      text.chat_template = make_chat_template(engine.text, *text.tokenizer);
    } catch (const Error& e) {
      text.template_error = fmt::format("{}: {}", engine.origin, e.what());
    }
    return text;
  });
}

std::unique_ptr<Executor> make_executor(Engine engine, const Tokenizer* tokenizer, const LoadOptions& options) {
  ExecutorOptions executor = options.executor;
  if (executor.eos_token_ids.empty()) {
    const auto ids = engine.generation.find("eos_token_ids");
    if (ids != engine.generation.end())
      for (const Json& id : *ids)
        if (id.is_number_integer() && id.get<int64_t>() >= 0 && id.get<int64_t>() < engine.vocab_size)
          executor.eos_token_ids.push_back(id.get<int32_t>());
    if (tokenizer)
      for (int32_t id : tokenizer->stop_ids())
        if (id < engine.vocab_size &&
            std::find(executor.eos_token_ids.begin(), executor.eos_token_ids.end(), id) == executor.eos_token_ids.end())
          executor.eos_token_ids.push_back(id);
  }
  // Keys of equal beginnings differ where rope depends on how long the whole prompt is.
  if (const Value reach = engine.program.find(Leaf::kInput, "reach"); reach && !reach.users().empty()) executor.prefix_cache = false;
  auto model =
      std::make_unique<PlanModel>(std::move(engine), PlanModelOptions{.num_threads = options.num_threads, .context = options.context});
  return std::make_unique<Executor>(std::move(model), std::move(executor));
}

std::unique_ptr<Executor> load_executor(const std::string& path, const LoadOptions& options) {
  Engine engine = load_engine(path, options);
  const ModelText text = load_text(engine);
  return make_executor(std::move(engine), text.tokenizer.get(), options);
}

namespace {

LLM::Parts load_parts(const std::string& path, const LoadOptions& options) {
  Engine engine = load_engine(path, options);
  ModelText text = load_text(engine);
  if (!text.tokenizer)
    fail(ErrorCode::kNotFound, "{}: has no tokenizer files (tokenizer.json, tokenizer.model, ...); text needs them", path);
  if (!text.template_error.empty()) log_line(LogLevel::kWarning, text.template_error);
  std::unique_ptr<Executor> executor = make_executor(std::move(engine), text.tokenizer.get(), options);
  return {std::move(executor), std::move(text.tokenizer), std::move(text.chat_template)};
}

}  // namespace

LLM::LLM(const std::string& path, const LoadOptions& options) : LLM(load_parts(path, options)) {}

}  // namespace headrace
