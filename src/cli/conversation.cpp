#include "cli/conversation.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "cli/chat_sampling.h"
#include "cli/completion_report.h"
#include "cli/nearest.h"
#include "cli/output.h"
#include "core/json.h"
#include "core/log.h"
#include "core/new_file.h"

namespace headrace::cli {
namespace {

constexpr char kKeys[] =
    "Alt-Enter begins a new line; so does Enter after a \\ at the end, or within\n"
    "\"\"\" and \"\"\". A pasted text stays together. Up and down bring earlier lines\n"
    "back, Tab completes a command. Ctrl-C stops an answer, or drops what you have\n"
    "written; twice, it leaves. With a space in front, / begins no command.\n";

bool wants_colour() {
  const char *no_color = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  return output_is_terminal() && !(no_color && *no_color) && !(terminal && std::string_view(terminal) == "dumb");
}

std::string coloured(const char* code, const std::string& text) { return fmt::format("\033[{}m{}\033[0m", code, text); }

// "1 message", "2 messages"
std::string counted(size_t count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

}  // namespace

const std::vector<Conversation::Command>& Conversation::commands() {
  static const std::vector<Command> list = {
      {"/help", "", "these lines", &Conversation::help},
      {"/system", "TEXT", "what the model is told beforehand; without TEXT: nothing", &Conversation::set_system},
      {"/set", "NAME VALUE", "temperature, top-p, seed ...; alone: how they are set", &Conversation::set},
      {"/undo", "", "forget the last question and its answer", &Conversation::undo},
      {"/regen", "", "answer the last question anew", &Conversation::regenerate},
      {"/clear", "", "forget the conversation", &Conversation::clear},
      {"/history", "", "show the conversation", &Conversation::history},
      {"/save", "FILE", "the conversation as JSON", &Conversation::save},
      {"/stats", "", "speed of the last answer", &Conversation::stats},
      {"/exit", "", "leave (or Ctrl-D)", &Conversation::leave},
  };
  return list;
}

std::vector<std::string> Conversation::completions(const std::string& text) {
  std::vector<std::string> all, matching;
  for (const Command& c : commands()) all.push_back(std::string(c.name) + (*c.argument ? " " : ""));
  for (const std::string& name : setting_names()) all.push_back("/set " + name + " ");
  for (const std::string& word : all)
    if (word.starts_with(text) && (text.starts_with("/set ") || word.find(' ') >= word.size() - 1)) matching.push_back(word);
  return matching;
}

Conversation::Conversation(LLM llm, GenerateOptions options, std::string system, double load_s, bool stats)
    : llm_(std::move(llm)), options_(std::move(options)), load_s_(load_s), show_stats_(stats), colored_(wants_colour()),
      system_(std::move(system)) {
  if (!Terminal::can_edit()) return;
  editor_.emplace(interrupt_, LineEditor::Prompts{colored_ ? coloured("1;32", "> ") : "> ", dim(". "), 2}, completions,
                  chat_history_path());
}

std::string Conversation::dim(const std::string& text) const { return colored_ ? coloured("2", text) : text; }

// What the person should know, besides the answer.
void Conversation::note(const std::string& text) {
  if (input_is_terminal()) write_output(dim(text) + "\n");
  else log_line(LogLevel::kWarning, text);
}

int Conversation::run() {
  if (input_is_terminal()) note(fmt::format("/help helps, Ctrl-D leaves. Answers: {}.", describe(options_.sampling)));
  bool failed = false, interrupted = false;
  while (!left_) {
    interrupt_.clear();
    const Heard heard = hear();
    if (heard.kind == Heard::kEnd) break;
    if (heard.kind == Heard::kInterrupt) {
      if (interrupted || !input_is_terminal()) break;
      interrupted = true;  // perhaps it was meant for an answer that has just ended
      note("Ctrl-C again or Ctrl-D leaves.");
      continue;
    }
    interrupted = false;
    if (heard.text.empty()) continue;
    interrupt_.clear();
    try {
      if (!command(heard.text)) ask(heard.text);
    } catch (const Error& e) {
      log_line(LogLevel::kError, e.what());
      failed = true;
    }
  }
  return failed && !input_is_terminal() ? 1 : 0;
}

Heard Conversation::hear() {
  if (editor_) return editor_->read();
  const auto show = [this](const char* prompt) {
    if (input_is_terminal()) write_output(colored_ ? coloured("1;32", prompt) : prompt);
  };
  show("> ");
  const Heard heard = reader_.message([&] { show(". "); });
  if (input_is_terminal() && heard.kind != Heard::kMessage) write_output("\n");
  return heard;
}

// ---------------------------------------------------------------------------------------------------------------- commands

bool Conversation::command(const std::string& text) {
  if (!text.starts_with('/')) return false;
  const size_t space = text.find_first_of(" \n");
  const std::string name = text.substr(0, space), argument = space == std::string::npos ? "" : text.substr(space + 1);
  std::vector<std::string> names;
  for (const Command& c : commands()) {
    if (name == c.name || (name == "/quit" && std::string_view(c.name) == "/exit")) return (this->*c.run)(argument), true;
    names.push_back(c.name);
  }
  if (text.find('\n') != std::string::npos) return false;  // a pasted text
  const std::string near = nearest(name, names);
  write_output(
      fmt::format("{}: no such command{}; /help lists them\n", printable(name), near.empty() ? "" : " (did you mean " + near + "?)"));
  return true;
}

void Conversation::help(const std::string&) {
  std::string text;
  for (const Command& c : commands()) text += fmt::format("  {:<18} {}\n", fmt::format("{} {}", c.name, c.argument), c.help);
  write_output(text + kKeys);
}

void Conversation::set_system(const std::string& text) { system_ = text; }

void Conversation::set(const std::string& words) {
  write_output(change_setting(options_, words));
  num_asked_ = 0;
}

void Conversation::clear(const std::string&) {
  messages_.clear();
  first_sent_ = 0;
  if (input_is_terminal()) note("Forgotten.");
}

void Conversation::undo(const std::string&) {
  if (messages_.empty()) invalid("/undo: nothing was asked yet");
  drop_last_turn();
  if (input_is_terminal()) note(fmt::format("Forgotten; {} left.", counted(messages_.size(), "message")));
}

void Conversation::drop_last_turn() {
  while (messages_.back().role != "user") messages_.pop_back();
  messages_.pop_back();
  first_sent_ = std::min(first_sent_, messages_.size());
}

void Conversation::regenerate(const std::string&) {
  const auto question = std::find_if(messages_.rbegin(), messages_.rend(), [](const Message& m) { return m.role == "user"; });
  if (question == messages_.rend()) invalid("/regen: there is no question to answer");
  const std::vector<Message> before = messages_;
  const std::string text = question->content;
  drop_last_turn();
  try {
    ask(text);
  } catch (...) {
    messages_ = before;
    throw;
  }
}

void Conversation::history(const std::string&) {
  if (!system_.empty()) write_text(fmt::format("system: {}\n", system_));
  for (const Message& m : messages_) write_text(fmt::format("{}: {}\n", m.role, m.content));
}

void Conversation::save(const std::string& path) {
  if (path.empty()) invalid("/save: name a file");
  OrderedJson json = OrderedJson::array();
  if (!system_.empty()) json.push_back({{"role", "system"}, {"content", system_}});
  for (const Message& m : messages_) json.push_back({{"role", m.role}, {"content", m.content}});
  const std::string text = json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  NewFile file(path);
  file.append(std::as_bytes(std::span(text)));
  file.commit();
  if (input_is_terminal()) note(fmt::format("{}: {}", printable(path, 500), counted(json.size(), "message")));
}

void Conversation::stats(const std::string&) {
  write_output(last_ ? speed_line(*last_, speeds_of(*last_, load_s_)) + "\n" : "nothing was answered yet\n");
}

void Conversation::leave(const std::string&) { left_ = true; }

// ---------------------------------------------------------------------------------------------------------------- turns

// A turn that fails leaves the conversation as it was.
void Conversation::ask(const std::string& question) {
  messages_.push_back({"user", question});
  try {
    last_ = answer();
  } catch (...) {
    messages_.pop_back();
    throw;
  }
  messages_.push_back({"assistant", last_->text});
  comment(*last_);
}

std::vector<Message> Conversation::sent() const {
  std::vector<Message> sent(messages_.begin() + std::ptrdiff_t(first_sent_), messages_.end());
  if (!system_.empty()) sent.insert(sent.begin(), {"system", system_});
  return sent;
}

// When a conversation has outgrown the context, its oldest turns go until half of it is free: seldom then is all of it computed anew. For
// a question that does not even fit alone none goes: the Executor refuses it.
Prompt Conversation::prompt_that_fits() {
  const size_t context = size_t(llm_.executor().max_context());
  const size_t answer = std::min(context / 4, size_t(options_.max_tokens.value_or(INT_MAX)));
  Prompt prompt = llm_.chat_prompt(sent());
  if (prompt.token_ids.size() + answer <= context) return prompt;
  const size_t first_sent = first_sent_;
  size_t dropped = 0;
  const auto next_turn = [&] {
    const auto next = std::find_if(messages_.begin() + std::ptrdiff_t(first_sent_) + 1, messages_.end(),
                                   [](const Message& m) { return m.role == "user"; });
    return size_t(next - messages_.begin());
  };
  while (prompt.token_ids.size() > context / 2 && next_turn() < messages_.size()) {
    first_sent_ = next_turn();
    prompt = llm_.chat_prompt(sent());
    ++dropped;
  }
  if (prompt.token_ids.size() >= context) first_sent_ = first_sent;
  else if (dropped > 0)
    note(fmt::format("The context of {} tokens is full: the model has forgotten the {}.", context,
                     dropped == 1 ? "oldest turn" : fmt::format("{} oldest turns", dropped)));
  return prompt;
}

Completion Conversation::answer() {
  GenerateOptions options = options_;
  if (options.sampling.seed) *options.sampling.seed += num_asked_++;  // or /regen would say the same again
  Generation generation = llm_.start(prompt_that_fits(), options);
  Completion whole;
  bool cancelled = false;
  while (!whole.finished()) {
    std::optional<Completion> piece = generation.next(std::chrono::milliseconds(50));
    if (interrupt_.requested() && !cancelled) generation.cancel(), cancelled = true;
    if (!piece) continue;
    write_text(piece->text);
    whole.append(std::move(*piece));
  }
  write_output("\n");
  if (cancelled && editor_) editor_->forget_ahead();
  if (whole.finish == FinishReason::kError) fail(ErrorCode::kInternal, "{}", whole.error);
  return whole;
}

void Conversation::comment(const Completion& c) {
  const size_t context = size_t(llm_.executor().max_context()), used = size_t(c.num_prompt_tokens) + c.token_ids.size();
  if (c.finish == FinishReason::kLength && used >= context)
    note(fmt::format("The answer was cut: the context of {} tokens is full (--context, /clear).", context));
  else if (c.finish == FinishReason::kLength)
    note(fmt::format("The answer was cut after {} (-n, /set max-tokens).", counted(c.token_ids.size(), "token")));
  else if (c.finish == FinishReason::kCancelled && input_is_terminal()) note("Stopped.");
  const Speeds speeds = speeds_of(c, load_s_);
  if (show_stats_) fmt::print(stderr, "{}\n", speed_line(c, speeds));
  else if (editor_)
    note(fmt::format("[{} of {} tokens{}]", used, context,
                     speeds.decode_tokens_per_s ? fmt::format(", {:.0f} a second", *speeds.decode_tokens_per_s) : ""));
}

}  // namespace headrace::cli
