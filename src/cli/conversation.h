// A conversation: what was said, the commands that change it, and the terminal or pipe that it is held through.
#pragma once

#include "cli/interrupt.h"
#include "cli/line_editor.h"
#include "cli/line_reader.h"
#include "headrace/llm.h"

namespace headrace::cli {

class Conversation {
 public:
  Conversation(LLM llm, GenerateOptions options, std::string system, double load_s, bool stats);
  // Until the person leaves, or the input ends. Returns the exit code: 1 when a turn failed and nobody was there to see it.
  int run();

 private:
  struct Command {
    const char *name, *argument, *help;
    void (Conversation::*run)(const std::string& argument);
  };
  static const std::vector<Command>& commands();
  static std::vector<std::string> completions(const std::string& text);

  Heard hear();
  void note(const std::string& text);
  std::string dim(const std::string& text) const;

  // True when the text is a command, which then was carried out.
  bool command(const std::string& text);
  void help(const std::string&);
  void set_system(const std::string& text);
  void set(const std::string& words);
  void clear(const std::string&);
  void undo(const std::string&);
  void regenerate(const std::string&);
  void history(const std::string&);
  void save(const std::string& path);
  void stats(const std::string&);
  void leave(const std::string&);

  void drop_last_turn();
  void ask(const std::string& question);
  std::vector<Message> sent() const;
  Prompt prompt_that_fits();
  Completion answer();
  void comment(const Completion& answer);

  LLM llm_;
  GenerateOptions options_;
  double load_s_;
  bool show_stats_, colored_, left_ = false;
  std::string system_;             // "": none
  std::vector<Message> messages_;  // the person's and the model's
  size_t first_sent_ = 0;          // of them; those before are more than the context holds
  uint64_t num_asked_ = 0;         // a seed gives each answer another one
  std::optional<Completion> last_;

  Interrupt interrupt_;
  LineReader reader_{interrupt_};
  std::optional<LineEditor> editor_;  // at a terminal that can be drawn on
};

}  // namespace headrace::cli
