// headrace chat: a conversation in the terminal; from a pipe, one line is one turn.
#include <cstdlib>

#include "cli/chat_sampling.h"
#include "cli/completion_report.h"
#include "cli/generate_options.h"
#include "cli/interrupt.h"
#include "cli/line_reader.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "core/log.h"
#include "core/new_file.h"

namespace headrace::cli {
namespace {

struct ChatSettings {
  ModelOptions model;
  GenerateOptions generate;
  std::optional<std::string> system;
  bool stats = false;
};

constexpr char kHelp[] =
    "  /system TEXT   what the model is told beforehand; without TEXT: nothing\n"
    "  /clear         forget the conversation\n"
    "  /regen         answer the last question anew\n"
    "  /save FILE     the conversation as JSON\n"
    "  /stats         speed of the last answer\n"
    "  /exit          leave (or Ctrl-D)\n"
    "A line that ends in \\ goes on in the next one; \"\"\" begins and ends a text of several lines.\n"
    "Ctrl-C stops an answer, or drops the line that you are at; twice at the prompt, it leaves.\n";

class Conversation {
 public:
  Conversation(LLM llm, GenerateOptions options, std::optional<std::string> system, double load_s, bool stats)
      : llm_(std::move(llm)), options_(std::move(options)), load_s_(load_s), show_stats_(stats),
        colored_(output_is_terminal() && !std::getenv("NO_COLOR")) {
    set_system(system.value_or(""));
  }

  // Returns the exit code: 1 when a turn failed and nobody was there to see it.
  int run() {
    if (input_is_terminal()) write_output(colour("2", "/help says what you can do. Ctrl-D leaves.\n"));
    bool failed = false, interrupted = false;
    for (;;) {
      interrupt_.clear();
      show_prompt("> ");
      const std::optional<std::string> message = reader_.message([this] { show_prompt(". "); });
      if (!message) {
        if (!interrupt_.requested() || interrupted || !input_is_terminal()) break;
        interrupted = true;  // perhaps it was meant for an answer that has just ended
        write_output(colour("2", "\nCtrl-C again or Ctrl-D leaves.\n"));
        continue;
      }
      interrupted = false;
      if (message->empty()) continue;
      interrupt_.clear();
      try {
        if (*message == "/exit" || *message == "/quit") break;
        if (message->starts_with('/')) command(*message);
        else ask(*message);
      } catch (const Error& e) {
        log_line(LogLevel::kError, e.what());
        failed = true;
      }
    }
    if (input_is_terminal()) write_output("\n");
    return failed && !input_is_terminal() ? 1 : 0;
  }

 private:
  std::string colour(const char* code, const std::string& text) const {
    return colored_ ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }
  void show_prompt(const std::string& text) {
    if (input_is_terminal()) write_output(colour("1;32", text));
  }

  void set_system(const std::string& text) {
    if (!messages_.empty() && messages_[0].role == "system") messages_.erase(messages_.begin());
    if (!text.empty()) messages_.insert(messages_.begin(), {"system", text});
  }

  void command(const std::string& line) {
    const size_t space = line.find(' ');
    const std::string verb = line.substr(0, space), argument = space == std::string::npos ? "" : line.substr(space + 1);
    if (verb == "/help") write_output(kHelp);
    else if (verb == "/system") set_system(argument);
    else if (verb == "/clear") std::erase_if(messages_, [](const Message& m) { return m.role != "system"; });
    else if (verb == "/regen") regenerate();
    else if (verb == "/save") save(argument);
    else if (verb == "/stats") write_output(last_ ? speed_line(*last_, speeds_of(*last_, load_s_)) + "\n" : "nothing was answered yet\n");
    else write_output(fmt::format("{}: no such command; /help lists them\n", printable(verb)));
  }

  void save(const std::string& path) {
    if (path.empty()) invalid("/save: name a file");
    OrderedJson json = OrderedJson::array();
    for (const Message& m : messages_) json.push_back({{"role", m.role}, {"content", m.content}});
    const std::string text = json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
    NewFile file(path);
    file.append(std::as_bytes(std::span(text)));
    file.commit();
    if (input_is_terminal()) write_output(colour("2", fmt::format("{}: {} messages\n", printable(path, 500), messages_.size())));
  }

  void regenerate() {
    if (!messages_.empty() && messages_.back().role == "assistant") messages_.pop_back();
    if (messages_.empty() || messages_.back().role != "user") invalid("/regen: there is no question to answer");
    const std::string question = messages_.back().content;
    messages_.pop_back();
    ask(question);
  }

  // A turn that fails leaves the conversation as it was.
  void ask(const std::string& question) {
    messages_.push_back({"user", question});
    try {
      last_ = answer();
    } catch (...) {
      messages_.pop_back();
      throw;
    }
    messages_.push_back({"assistant", last_->text});
    if (last_->finish == FinishReason::kLength)
      log_line(LogLevel::kWarning, "the answer was cut: -n or the context is used up (/clear starts anew)");
    if (show_stats_) fmt::print(stderr, "{}\n", speed_line(*last_, speeds_of(*last_, load_s_)));
  }

  Completion answer() {
    Generation generation = llm_.start(llm_.chat_prompt(messages_), options_);
    Completion whole;
    for (bool cancelled = false; !whole.finished();) {
      std::optional<Completion> piece = generation.next(std::chrono::milliseconds(50));
      if (interrupt_.requested() && !cancelled) generation.cancel(), cancelled = true;
      if (!piece) continue;
      write_output(piece->text);
      whole.append(std::move(*piece));
    }
    write_output("\n");
    if (whole.finish == FinishReason::kError) fail(ErrorCode::kInternal, "{}", whole.error);
    return whole;
  }

  LLM llm_;
  GenerateOptions options_;
  double load_s_;
  bool show_stats_, colored_;
  Interrupt interrupt_;
  LineReader reader_{interrupt_};
  std::vector<Message> messages_;
  std::optional<Completion> last_;
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
  options.footer("--temperature 0 is greedy, --seed makes answers repeatable. In the conversation /help lists commands.");
  options.run([s] { return chat(*s); });
}

}  // namespace headrace::cli
