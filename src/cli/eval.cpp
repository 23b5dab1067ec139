// headrace eval: perplexity of a text.
#include <algorithm>
#include <cmath>

#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"

namespace headrace::cli {
namespace {

constexpr int kContext = 512;

struct EvalSettings {
  ModelOptions model;
  std::string text;
  std::optional<int> max_tokens, stride, context;
  bool json = false;
};

// A window of the text, of which the tokens from `first_scored` on (counted in the text) are scored.
struct Window {
  size_t begin, end, first_scored;
};

// One after the other; of each the second half is scored, as llama.cpp's perplexity does. A shorter rest is left out.
std::vector<Window> halves(size_t num_tokens, size_t context) {
  std::vector<Window> windows;
  for (size_t begin = 0; begin + context <= num_tokens; begin += context)
    windows.push_back({begin, begin + context, begin + context / 2 + 1});
  return windows;
}

// Windows that move by `stride`; each token is scored once, with as much before it as fits, as Hugging Face's guide does.
std::vector<Window> sliding(size_t num_tokens, size_t context, size_t stride) {
  std::vector<Window> windows;
  for (size_t begin = 0, scored = 1; scored < num_tokens; begin += stride) {
    const size_t end = std::min(begin + context, num_tokens);
    windows.push_back({begin, end, std::max(scored, begin + 1)});
    scored = end;
  }
  return windows;
}

struct Score {
  double nll = 0;
  int64_t tokens = 0;
  double perplexity() const { return std::exp(nll / double(tokens)); }
};

void add(Score& score, Executor& executor, const std::vector<int32_t>& ids, const Window& w) {
  const RequestId id = executor.enqueue(
      {.token_ids = {ids.begin() + int64_t(w.begin), ids.begin() + int64_t(w.end)}, .max_tokens = 0, .output = {.prompt_logprobs = 0}});
  const std::optional<Response> response = executor.await(id);
  if (response->finish == FinishReason::kError) fail(ErrorCode::kInternal, "{}", response->error);
  for (size_t i = w.first_scored; i < w.end; ++i) {
    score.nll -= response->prompt_logprobs[i - w.begin - 1].logprob;  // entry k is for token k + 1
    ++score.tokens;
  }
}

int eval(EvalSettings& s) {
  if (s.max_tokens && *s.max_tokens < 2) throw UsageError("--max-tokens: at least 2 tokens are wanted");
  if (s.context && *s.context < 2) throw UsageError("--context: at least 2 tokens are wanted");
  const std::string text = read_file(s.text);
  const double start = now_s();
  Engine engine = load_engine(s.model.path, s.model.load);
  const int context = s.context.value_or(int(std::min<int64_t>(kContext, engine.max_positions)));
  if (s.stride && (*s.stride < 1 || *s.stride > context))
    throw UsageError(fmt::format("--stride: must be between 1 and the context, {}", context));
  s.model.load.context = context;
  s.model.load.executor.prefix_cache = false;
  LoadedModel model = load_model(std::move(engine), s.model, 0);
  const double loaded = now_s();
  if (!model.text.tokenizer) fail(ErrorCode::kNotFound, "{}: has no tokenizer files; text needs them", s.model.path);
  std::vector<int32_t> ids = model.text.tokenizer->encode(text, {.add_special = false});
  if (s.max_tokens && ids.size() > size_t(*s.max_tokens)) ids.resize(size_t(*s.max_tokens));
  if (ids.size() < 2) invalid("{}: has {} tokens; at least 2 are needed", s.text, ids.size());
  if (!s.stride && ids.size() < size_t(context))
    invalid("{}: has {} tokens, fewer than one window of {}; give a longer text or a smaller --context", s.text, ids.size(), context);

  const std::vector<Window> windows =
      s.stride ? sliding(ids.size(), size_t(context), size_t(*s.stride)) : halves(ids.size(), size_t(context));
  Score score;
  for (size_t i = 0; i < windows.size(); ++i) {
    add(score, *model.executor, ids, windows[i]);
    if (errors_are_terminal()) fmt::print(stderr, "\r{}/{}  perplexity {:.4f} ", i + 1, windows.size(), score.perplexity());
  }
  if (errors_are_terminal()) fmt::print(stderr, "\r\033[K");
  const double took = now_s() - loaded;
  if (s.json)
    write_output(OrderedJson{{"perplexity", score.perplexity()},
                             {"tokens", score.tokens},
                             {"nll", score.nll / double(score.tokens)},
                             {"text_tokens", ids.size()},
                             {"windows", windows.size()},
                             {"context", context},
                             {"load_s", loaded - start},
                             {"eval_s", took}}
                     .dump() +
                 "\n");
  else
    write_output(fmt::format("perplexity {:.4f} over {} of {} tokens, {} windows of {}, in {:.1f} s\n", score.perplexity(), score.tokens,
                             ids.size(), windows.size(), context, took));
  return 0;
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
  options.flag("--json", s->json, "figures as JSON");
  options.run([s] {
    if (s->text.empty()) throw UsageError("--text FILE is missing");
    return eval(*s);
  });
}

}  // namespace headrace::cli
