// headrace chat: a conversation in the terminal; from a pipe, one line is one turn.
#include "cli/chat_sampling.h"
#include "cli/conversation.h"
#include "cli/generate_options.h"
#include "cli/model_options.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "headrace/llm.h"

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
  Engine engine = load_model(s.model);
  complete_sampling(s.generate.sampling, parse_json(engine.generation, s.model.path));
  LLM llm(std::move(engine), s.model.load);
  llm.chat_template();  // an Error now, rather than at the first question
  return Conversation(std::move(llm), s.generate, s.system, now_s() - start, s.stats).run();
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
