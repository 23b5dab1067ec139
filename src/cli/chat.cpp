// headrace chat: a conversation in the terminal; from a pipe, one line is one turn.
#include "cli/chat_sampling.h"
#include "cli/conversation.h"
#include "cli/generate_options.h"
#include "cli/model_options.h"
#include "cli/verbs.h"

namespace headrace::cli {
namespace {

struct ChatSettings {
  ModelOptions model;
  GenerateOptions generate;
  std::string system;
  bool stats = false;
};

int chat(ChatSettings& s) {
  const double start = now_s();
  Engine engine = load_engine(s.model.path, s.model.load);
  complete_sampling(s.generate.sampling, engine.generation);
  LoadedModel model = load_model(std::move(engine), s.model, now_s() - start);
  if (!model.text.tokenizer) fail(ErrorCode::kNotFound, "{}: has no tokenizer files; a conversation needs them", s.model.path);
  if (!model.text.template_error.empty()) invalid("{}", model.text.template_error);
  if (!model.text.chat_template)
    fail(ErrorCode::kNotFound, "{}: has no chat template; use a model tuned for chat, or 'headrace run -p'", s.model.path);
  LLM llm({std::move(model.executor), model.text.tokenizer, model.text.chat_template});
  return Conversation(std::move(llm), s.generate, s.system, model.load_s, s.stats).run();
}

}  // namespace

void declare_chat(Options& options) {
  const auto s = std::make_shared<ChatSettings>();
  s->generate.sampling = sampling_not_given();
  declare_model(options, s->model);
  options.heading("Conversation");
  options.value("--system", "TEXT", s->system, "what the model is told beforehand");
  declare_generate(options, s->generate, "what is not given: as the model's generation_config says, else " + describe(kChatSampling));
  options.flag("--stats", s->stats, "a line on speed after each answer");
  options.footer(
      "--temperature 0 is greedy, --seed makes a conversation repeatable. In it, /help lists commands and keys. Lines are remembered in "
      "headrace/chat_history under $XDG_STATE_HOME or ~/.local/state; HEADRACE_CHAT_HISTORY names another file, or, empty, none.");
  options.run([s] { return chat(*s); });
}

}  // namespace headrace::cli
