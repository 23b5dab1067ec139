// What was asked before, for the arrow keys; kept in a file from one session to the next.
#pragma once

#include <string>
#include <vector>

namespace headrace::cli {

// $HEADRACE_CHAT_HISTORY, where empty means none; else headrace/chat_history under $XDG_STATE_HOME or ~/.local/state. "" when no such
// folder is known.
std::string chat_history_path();

class ChatHistory {
 public:
  // "": kept in memory alone. So it is, with a line to the log at level info, when the file cannot be read.
  explicit ChatHistory(std::string path);
  // Unless it is empty or the last one again. Written at once, so that nothing is lost and several sessions may write.
  void add(const std::string& text);
  const std::vector<std::string>& entries() const { return entries_; }  // oldest first

 private:
  void load();

  std::string path_;
  std::vector<std::string> entries_;
};

}  // namespace headrace::cli
