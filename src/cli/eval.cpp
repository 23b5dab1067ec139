// headrace eval: perplexity of a text.
#include <algorithm>

#include "cli/debug_options.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/context.h"
#include "core/json.h"
#include "headrace/llm.h"
#include "headrace/perplexity.h"

namespace headrace::cli {
namespace {

constexpr int kContext = 512;

struct EvalSettings {
  ModelOptions model;
  DebugSettings debug;
  std::string text;
  std::optional<int> max_tokens, stride, context;
  bool json = false;
};

int eval(EvalSettings& s) {
  if (s.max_tokens && *s.max_tokens < 2) throw UsageError("--max-tokens: at least 2 tokens are wanted");
  if (s.context && *s.context < 2) throw UsageError("--context: at least 2 tokens are wanted");
  const std::string text = read_file(s.text);
  apply(s.debug, s.model.load);
  const double start = now_s();
  Engine engine = load_model(s.model);
  const int context = s.context.value_or(int(std::min<int64_t>(kContext, engine.max_positions)));
  if (s.stride && (*s.stride < 1 || *s.stride > context))
    throw UsageError(fmt::format("--stride: must be between 1 and the context, {}", context));
  s.model.load.context = context;
  s.model.load.executor.prefix_cache = false;
  LLM llm(std::move(engine), s.model.load);
  const double loaded = now_s();
  std::vector<int32_t> ids = llm.tokenizer().encode(text, {.add_special = false});
  if (s.max_tokens && ids.size() > size_t(*s.max_tokens)) ids.resize(size_t(*s.max_tokens));
  PerplexityOptions options{.context = context, .stride = s.stride.value_or(0)};
  if (errors_are_terminal())
    options.on_window = [](const Perplexity& so_far, int num_windows) {
      fmt::print(stderr, "\r{}/{}  perplexity {:.4f} ", so_far.windows, num_windows, so_far.perplexity());
    };
  const Perplexity score = with_context(s.text, [&] { return measure_perplexity(llm.executor(), ids, options); });
  if (errors_are_terminal()) fmt::print(stderr, "\r\033[K");
  const double took = now_s() - loaded;
  if (s.json)
    write_output(OrderedJson{{"perplexity", score.perplexity()},
                             {"tokens", score.scored_tokens},
                             {"nll", score.nll / double(score.scored_tokens)},
                             {"text_tokens", ids.size()},
                             {"windows", score.windows},
                             {"context", context},
                             {"load_s", loaded - start},
                             {"eval_s", took}}
                     .dump() +
                 "\n");
  else
    write_output(fmt::format("perplexity {:.4f} over {} of {} tokens, {} windows of {}, in {:.1f} s\n", score.perplexity(),
                             score.scored_tokens, ids.size(), score.windows, context, took));
  return report(s.debug, s.model.load);
}

}  // namespace

void declare_eval(Options& options) {
  const auto s = std::make_shared<EvalSettings>();
  options.positional("MODEL", s->model.path, "a Hugging Face folder, a .gguf file or an engine");
  options.value("--text", "FILE", s->text, "UTF-8; tokenized without a begin token");
  options.value("--context", "N", s->context,
                "tokens of a window (default: 512, or what the model has if less); the second half of each is scored");
  options.value("--stride", "N", s->stride, "windows move by N tokens instead, and every token is scored once");
  options.value("--max-tokens", "N", s->max_tokens, "only the first N tokens of the text");
  declare_threads(options, s->model);
  declare_dtype(options, s->model);
  declare_checkpoint(options, s->model);
  declare_plugins(options, s->model);
  options.flag("--json", s->json, "figures as JSON");
  declare_debug(options, s->debug);
  options.run([s] {
    if (s->text.empty()) throw UsageError("--text FILE is missing");
    return eval(*s);
  });
}

}  // namespace headrace::cli
