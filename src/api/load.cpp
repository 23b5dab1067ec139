#include "api/load.h"

#include <algorithm>

#include "api/plan_model.h"
#include "build/weight_dtype.h"
#include "core/json.h"
#include "headrace/build.h"
#include "headrace/llm.h"
#include "plugin/parts.h"

namespace headrace {
namespace {

void check_device(const std::string& device) {
  if (device == "auto" || device == "cpu") return;
  fail(ErrorCode::kUnsupported, "device '{}': this build of Headrace runs on 'cpu' only", printable(device));
}

// What ends a sequence: the engine's end tokens, then the tokenizer's, as far as the model has them.
std::vector<int32_t> eos_token_ids(const Engine& engine, const Tokenizer* tokenizer) {
  std::vector<int32_t> ids;
  const auto add = [&](int64_t id) {
    if (id >= 0 && id < engine.vocab_size && std::ranges::find(ids, id) == ids.end()) ids.push_back(int32_t(id));
  };
  const Json generation = parse_json(engine.generation, engine.origin + ": generation");
  if (generation.is_object())
    if (const auto named = generation.find("eos_token_ids"); named != generation.end())
      for (const Json& id : *named)
        if (id.is_number_integer() && fits<int64_t>(id)) add(id.get<int64_t>());
  if (tokenizer)
    for (int32_t id : tokenizer->stop_ids()) add(id);
  return ids;
}

LLM::Parts load_parts(Engine engine, const LoadOptions& options) {
  ModelText text = load_text(engine);
  const std::string origin = engine.origin;
  std::unique_ptr<Executor> executor = make_executor(std::move(engine), text.tokenizer.get(), options);
  return {.executor = std::move(executor),
          .tokenizer = std::move(text.tokenizer),
          .chat_template = std::move(text.chat_template),
          .origin = origin,
          .chat_template_error = std::move(text.chat_template_error)};
}

}  // namespace

Engine load_engine(const std::string& path, const LoadOptions& options) {
  check_device(options.device);
  if (!is_engine_file(path)) {
    if (!options.checkpoint.empty())
      invalid("{}: is no engine, and has its own weights; only an engine takes those of {}", path, options.checkpoint);
    return build_engine(path, {.dtype = options.dtype,
                               .random_weights = options.random_weights,
                               .passes = options.passes ? *options.passes : CompileOptions(),
                               .plugins = options.plugins});
  }
  if (options.passes)
    fail(
        ErrorCode::kUnsupported,
        "{}: is an engine, and its program is past the passes; to mark values, skip or watch passes, give the checkpoint that it was built "
        "from",
        path);
  if (options.random_weights) invalid("{}: is an engine; random weights want a config.json or a checkpoint's folder", path);
  const bool own_weights = options.checkpoint.empty();
  Engine engine = read_engine(path, {.weights = own_weights, .plugins = options.plugins});
  if (!own_weights) refit(engine, options.checkpoint);
  const WeightDType dtype = parse_weight_dtype(options.dtype);
  if (dtype == WeightDType::kF32) engine.exact = true;
  else if (dtype != WeightDType::kAuto)
    invalid("{}: an engine's weights are what they were built as; build it with --dtype {}", path, options.dtype);
  return engine;
}

ModelText load_text(const Engine& engine) {
  ModelText text;
  text.tokenizer = load_tokenizer(engine);
  if (!text.tokenizer) return text;
  try {
    text.chat_template = load_chat_template(engine, *text.tokenizer);
  } catch (const Error& e) {
    text.chat_template_error = e.what();
  }
  return text;
}

std::unique_ptr<Executor> make_executor(Engine engine, const Tokenizer* tokenizer, const LoadOptions& options) {
  check_device(options.device);
  ExecutorOptions executor = options.executor;
  if (executor.eos_token_ids.empty()) executor.eos_token_ids = eos_token_ids(engine, tokenizer);
  // Keys of equal beginnings differ where rope depends on how long the whole prompt is.
  if (const Value reach = engine.program.find(Leaf::kInput, "reach"); reach && !reach.users().empty()) executor.prefix_cache = false;
  if (options.plugins) engine.plugins = options.plugins;
  if (engine.plugins)
    for (const auto& [name, make] : engine.plugins->parts().logits_processors) executor.logits_processors.emplace(name, make);
  auto model = std::make_unique<PlanModel>(
      std::move(engine), PlanModelOptions{.num_threads = options.num_threads, .context = options.context, .debugger = options.debugger});
  return std::make_unique<Executor>(std::move(model), std::move(executor));
}

std::unique_ptr<Executor> load_executor(Engine engine, const LoadOptions& options) {
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(engine);
  return make_executor(std::move(engine), tokenizer.get(), options);
}

std::unique_ptr<Executor> load_executor(const std::string& path, const LoadOptions& options) {
  return load_executor(load_engine(path, options), options);
}

LLM::LLM(Engine engine, const LoadOptions& options) : LLM(load_parts(std::move(engine), options)) {}
LLM::LLM(const std::string& path, const LoadOptions& options) : LLM(load_engine(path, options), options) {}

}  // namespace headrace
