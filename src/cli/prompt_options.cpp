#include "cli/prompt_options.h"

#include "cli/output.h"

namespace headrace::cli {

void declare_prompt(Options& options, PromptOptions& prompt) {
  options.heading("Prompt (one of these, else standard input)");
  options.value("-p,--prompt", "TEXT", prompt.text, "text to go on with");
  options.value(
      "--prompt-ids", "IDS",
      [&prompt](const std::string& text) {
        parse_value(text, prompt.ids);
        prompt.has_ids = true;
      },
      "the prompt's tokens: 1,2,3");
  options.value("--chat", "TEXT", prompt.chat, "a question, put through the model's chat template");
  options.value("--system", "TEXT", prompt.system, "with --chat: the system message");
  options.flag("--no-bos,--no-special", prompt.no_bos, "no begin token or the like in front of -p and standard input");
  options.flag("--parse-special", prompt.parse_special, "control tokens spelled in the prompt are control tokens");
}

void complete_prompt(PromptOptions& prompt) {
  const int given = prompt.text.has_value() + prompt.chat.has_value() + prompt.has_ids;
  if (given > 1) throw UsageError("-p, --prompt-ids and --chat exclude each other");
  if (prompt.system && !prompt.chat) throw UsageError("--system goes with --chat");
  if (given == 1) return;
  if (input_is_terminal())
    throw UsageError("no prompt: give -p TEXT, --chat TEXT or --prompt-ids, or pipe a text in; 'headrace chat' is a conversation");
  prompt.text = read_input();
  if (prompt.text->ends_with('\n')) prompt.text->pop_back();
}

}  // namespace headrace::cli
