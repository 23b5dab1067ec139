// headrace run: one prompt, one completion.
#include <algorithm>

#include "cli/completion_report.h"
#include "cli/encode.h"
#include "cli/generate_options.h"
#include "cli/interrupt.h"
#include "cli/logits_file.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/prompt_options.h"
#include "cli/verbs.h"
#include "core/new_file.h"
#include "weights/safetensors_writer.h"

namespace headrace::cli {
namespace {

constexpr int kDefaultTokens = 128;

struct RunSettings {
  ModelOptions model;
  PromptOptions prompt;
  GenerateOptions generate;
  bool prompt_logprobs = false, stats = false, json = false;
  std::string logits_out;
};

void show(const Completion& piece) { write_text(piece.text); }

// ---------------------------------------------------------------------------------------------------------------- with and without text

Prompt make_prompt(const LLM& llm, const PromptOptions& options) {
  if (options.has_ids) return options.ids;
  if (options.chat) {
    std::vector<Message> messages;
    if (options.system) messages.push_back({"system", *options.system});
    messages.push_back({"user", *options.chat});
    return llm.chat_prompt(messages);
  }
  Prompt prompt(*options.text);
  prompt.add_special = !options.no_bos;
  prompt.parse_special = options.parse_special;
  prompt.token_ids = llm.encode(prompt);
  return prompt;
}

// Ctrl-C cancels, and what there is by then is the answer.
Completion complete_text(LLM& llm, const RunSettings& s, const CompletionCallback& on_piece) {
  const Prompt prompt = make_prompt(llm, s.prompt);
  if (prompt.token_ids.empty()) invalid("the prompt is empty, and this model's tokenizer puts no begin token in front; give some text");
  const Interrupt interrupt;
  Generation generation = llm.start(prompt, s.generate);
  Completion whole;
  for (bool cancelled = false; !whole.finished();) {
    std::optional<Completion> piece = generation.next(std::chrono::milliseconds(100));
    if (interrupt.requested() && !cancelled) generation.cancel(), cancelled = true;
    if (!piece) continue;
    if (on_piece) on_piece(*piece);
    whole.append(std::move(*piece));
  }
  return whole;
}

// A model without tokenizer: ids in, ids out.
Completion complete_ids(Executor& executor, const RunSettings& s, const CompletionCallback& on_piece) {
  if (!s.prompt.has_ids)
    fail(ErrorCode::kNotFound, "{}: has no tokenizer files (tokenizer.json, tokenizer.model, ...); give --prompt-ids instead of text",
         s.model.path);
  if (!s.generate.stop.empty())
    fail(ErrorCode::kNotFound, "{}: has no tokenizer files, so there is no text to look for --stop in", s.model.path);
  const GenerateOptions& g = s.generate;
  const RequestId id = executor.enqueue({.token_ids = s.prompt.ids,
                                         .max_tokens = g.max_tokens,
                                         .min_tokens = g.min_tokens,
                                         .streaming = true,
                                         .sampling = g.sampling,
                                         .output = g.output,
                                         .stop_token_ids = g.stop_token_ids,
                                         .ignore_eos = g.ignore_eos});
  const auto spell = [](int32_t token, const TokenLogprobs& l) {
    TextLogprobs spelled;
    spelled.id = token, spelled.logprob = l.logprob;
    for (const TokenLogprob& t : l.top) spelled.top.push_back({.id = t.token, .logprob = t.logprob});
    return spelled;
  };
  const Interrupt interrupt;
  Completion whole;
  for (bool cancelled = false; !whole.finished();) {
    const std::optional<Response> r = executor.await(id, std::chrono::milliseconds(100));
    if (interrupt.requested() && !cancelled) executor.cancel(id), cancelled = true;
    if (!r) continue;
    Completion piece{.token_ids = r->token_ids,
                     .finish = r->finish,
                     .error = r->error,
                     .num_prompt_tokens = r->num_prompt_tokens,
                     .timings = r->timings};
    for (size_t i = 0; i < r->logprobs.size(); ++i) piece.logprobs.push_back(spell(r->token_ids[i], r->logprobs[i]));
    for (size_t i = 0; i < r->prompt_logprobs.size(); ++i)
      piece.prompt_logprobs.push_back(spell(s.prompt.ids[i + 1], r->prompt_logprobs[i]));
    if (on_piece) {
      for (int32_t token : r->token_ids) piece.text += fmt::format("{} ", token);
      on_piece(piece);
      piece.text.clear();
    }
    whole.append(std::move(piece));
  }
  return whole;
}

// ---------------------------------------------------------------------------------------------------------------- encoders

int run_encoder(Engine engine, const RunSettings& s) {
  if (s.logits_out.empty())
    fail(ErrorCode::kUnsupported,
         "{}: is an encoder, which generates no text; 'headrace embed' makes vectors, --logits-out writes its outputs", s.model.path);
  std::vector<int32_t> ids = s.prompt.ids;
  if (!s.prompt.has_ids) {
    const ModelText text = load_text(engine);
    if (!text.tokenizer) fail(ErrorCode::kNotFound, "{}: has no tokenizer files; give --prompt-ids instead of text", s.model.path);
    if (s.prompt.chat) fail(ErrorCode::kUnsupported, "{}: is an encoder: it does not chat", s.model.path);
    ids = text.tokenizer->encode(*s.prompt.text, {.add_special = !s.prompt.no_bos, .parse_special = s.prompt.parse_special});
  }
  EncoderModel model(std::move(engine), s.model.load.num_threads);
  const std::map<std::string, HostTensor> outputs = model.run({{ids}});
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::string names;
  for (const auto& [name, tensor] : outputs) {
    tensors.emplace_back(name, tensor.view());
    names += (names.empty() ? "" : ", ") + name;
  }
  write_safetensors(s.logits_out, tensors);
  write_output(s.json ? fmt::format("{{\"prompt_tokens\":{}}}\n", ids.size()) : fmt::format("{}: {}\n", s.logits_out, names));
  return 0;
}

// ---------------------------------------------------------------------------------------------------------------- the verb

int run(RunSettings& s) {
  complete_prompt(s.prompt);
  if (s.prompt_logprobs) s.generate.output.prompt_logprobs = s.generate.output.logprobs.value_or(0);
  if (!s.generate.max_tokens && !s.prompt.chat) s.generate.max_tokens = std::max(kDefaultTokens, s.generate.min_tokens);

  if (!s.logits_out.empty()) NewFile(s.logits_out);  // can it be written? Better known now than after the answer
  const double start = now_s();
  Engine engine = load_engine(s.model.path, s.model.load);
  if (engine.kind == "encoder") return run_encoder(std::move(engine), s);
  LoadedModel model = load_model(std::move(engine), s.model, now_s() - start);

  if (s.prompt.chat && !model.text.template_error.empty()) invalid("{}", model.text.template_error);
  if (s.prompt.chat && model.text.tokenizer && !model.text.chat_template)
    fail(ErrorCode::kNotFound, "{}: has no chat template; use a model tuned for chat, or -p", s.model.path);
  LogitsRecorder recorder;
  if (!s.logits_out.empty()) s.generate.output.on_logits = recorder.callback();
  const CompletionCallback on_piece = s.json ? CompletionCallback() : show;
  std::optional<LLM> llm;
  if (model.text.tokenizer) llm.emplace(LLM::Parts{std::move(model.executor), model.text.tokenizer, model.text.chat_template});
  const Completion c = llm ? complete_text(*llm, s, on_piece) : complete_ids(*model.executor, s, on_piece);
  const Speeds speeds = speeds_of(c, model.load_s);

  if (!s.logits_out.empty() && c.finish != FinishReason::kError)
    recorder.write(s.logits_out, size_t(c.num_prompt_tokens) + c.token_ids.size() - (c.token_ids.empty() ? 0 : 1));
  write_output(s.json ? completion_json(c, s.generate, speeds) : "\n");
  if (s.stats) fmt::print(stderr, "{}\n", speed_line(c, speeds));
  if (c.finish == FinishReason::kError) fail(ErrorCode::kInternal, "{}", c.error);
  return 0;
}

}  // namespace

void declare_run(Options& options) {
  const auto s = std::make_shared<RunSettings>();
  declare_model(options, s->model);
  declare_prompt(options, s->prompt);
  declare_generate(options, s->generate);
  options.flag("--prompt-logprobs", s->prompt_logprobs, "the same for the prompt's tokens (with --json)");
  options.value("--logits-out", "FILE", s->logits_out,
                "writes a safetensors file: \"logits\", fp32 (positions, vocabulary); of an encoder all outputs");
  options.flag("--stats", s->stats, "a line on speed, to standard error");
  options.flag("--json", s->json, "one JSON object instead of the text");
  options.footer(fmt::format("Without -n: {} new tokens at most; with --chat as many as the context holds.", kDefaultTokens));
  options.run([s] { return run(*s); });
}

}  // namespace headrace::cli
