// headrace run: one prompt, one completion.
#include <algorithm>

#include "cli/completion_report.h"
#include "cli/debug_options.h"
#include "cli/generate_options.h"
#include "cli/interrupt.h"
#include "cli/logits_file.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/prompt_options.h"
#include "cli/verbs.h"
#include "core/new_file.h"
#include "headrace/encoder.h"
#include "headrace/llm.h"
#include "headrace/weights.h"

namespace headrace::cli {
namespace {

constexpr int kDefaultTokens = 128;

struct RunSettings {
  ModelOptions model;
  PromptOptions prompt;
  GenerateOptions generate;
  DebugSettings debug;
  bool prompt_logprobs = false, stats = false, json = false;
  std::string logits_out;
};

void show(const Completion& piece) { write_text(piece.text); }

// Of a model without tokenizer.
void show_ids(const Completion& piece) {
  for (int32_t token : piece.token_ids) write_output(fmt::format("{} ", token));
}

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
  if (prompt.token_ids.empty()) invalid("the prompt is empty, and this model's tokenizer puts no begin token in front; give some text");
  return prompt;
}

// Ctrl-C cancels, and what there is by then is the answer.
Completion complete(LLM& llm, const RunSettings& s, const CompletionCallback& on_piece) {
  const Interrupt interrupt;
  Generation generation = llm.start(make_prompt(llm, s.prompt), s.generate);
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

// ---------------------------------------------------------------------------------------------------------------- encoders

int run_encoder(Engine engine, const RunSettings& s) {
  if (s.logits_out.empty())
    fail(ErrorCode::kUnsupported,
         "{}: is an encoder, which generates no text; 'headrace embed' makes vectors, --logits-out writes its outputs", s.model.path);
  if (s.prompt.chat) fail(ErrorCode::kUnsupported, "{}: is an encoder: it does not chat", s.model.path);
  Encoder encoder(std::move(engine), s.model.load);
  const std::vector<int32_t> ids =
      s.prompt.has_ids
          ? s.prompt.ids
          : encoder.tokenizer().encode(*s.prompt.text, {.add_special = !s.prompt.no_bos, .parse_special = s.prompt.parse_special});
  const std::map<std::string, HostTensor> outputs = encoder.run({{ids}});
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::string names;
  for (const auto& [name, tensor] : outputs) {
    tensors.emplace_back(name, tensor.view());
    names += (names.empty() ? "" : ", ") + name;
  }
  write_safetensors(s.logits_out, tensors);
  write_output(s.json ? fmt::format("{{\"prompt_tokens\":{}}}\n", ids.size()) : fmt::format("{}: {}\n", s.logits_out, names));
  return report(s.debug, s.model.load);
}

// ---------------------------------------------------------------------------------------------------------------- the verb

int run(RunSettings& s) {
  complete_prompt(s.prompt);
  if (s.prompt_logprobs) s.generate.output.prompt_logprobs = s.generate.output.logprobs.value_or(0);
  if (!s.generate.max_tokens && !s.prompt.chat) s.generate.max_tokens = std::max(kDefaultTokens, s.generate.min_tokens);

  if (!s.logits_out.empty()) NewFile(s.logits_out);  // can it be written? Better known now than after the answer
  apply(s.debug, s.model.load);
  const double start = now_s();
  Engine engine = load_model(s.model);
  if (engine.kind == ModelKind::kEncoder) return run_encoder(std::move(engine), s);
  LLM llm(std::move(engine), s.model.load);
  const double load_s = now_s() - start;

  LogitsRecorder recorder;
  if (!s.logits_out.empty()) s.generate.output.on_logits = recorder.callback();
  const Completion c = complete(llm, s, s.json ? CompletionCallback() : llm.has_tokenizer() ? show : show_ids);
  const Speeds speeds = speeds_of(c, load_s);

  if (!s.logits_out.empty() && c.finish != FinishReason::kError)
    recorder.write(s.logits_out, size_t(c.num_prompt_tokens) + c.token_ids.size() - (c.token_ids.empty() ? 0 : 1));
  write_output(s.json ? completion_json(c, s.generate, speeds) : "\n");
  if (s.stats) fmt::print(stderr, "{}\n", speed_line(c, speeds));
  const int code = report(s.debug, s.model.load);
  if (c.finish == FinishReason::kError) fail(ErrorCode::kInternal, "{}", c.error);
  return code;
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
  declare_debug(options, s->debug);
  options.footer(fmt::format("Without -n: {} new tokens at most; with --chat as many as the context holds.", kDefaultTokens));
  options.run([s] { return run(*s); });
}

}  // namespace headrace::cli
