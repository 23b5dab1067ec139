#include "cli/chat_history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/output.h"
#include "core/error.h"
#include "core/log.h"

namespace headrace::cli {
namespace {

constexpr size_t kLongestKept = 16 << 10;  // bytes; longer ones, pasted most likely, end with the conversation
constexpr size_t kMostEntries = 1000;
constexpr size_t kMostBytes = 1 << 20;  // of a file cut down, which is done when there are twice as many

// One entry is one line.
std::string escaped(const std::string& text) {
  std::string line;
  for (char c : text) c == '\n' ? line += "\\n" : c == '\\' ? line += "\\\\" : line += c;
  return line + '\n';
}

std::string unescaped(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) text += line[++i] == 'n' ? '\n' : line[i];
    else text += line[i];
  }
  return cleaned(text);
}

std::string folder_of_state() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/') return state;
  if (const char* home = std::getenv("HOME"); home && *home == '/') return std::string(home) + "/.local/state";
  return "";
}

// What people ask is theirs alone. -1 when it cannot be opened.
int open_private(const std::string& path, int flags) { return ::open(path.c_str(), flags | O_CREAT | O_WRONLY | O_CLOEXEC, 0600); }

bool write_whole(int fd, std::string_view text) { return ::write(fd, text.data(), text.size()) == ssize_t(text.size()); }

void create_private_folders(const std::filesystem::path& folder) {
  if (folder.empty() || folder == folder.root_path() || std::filesystem::exists(folder)) return;
  create_private_folders(folder.parent_path());
  ::mkdir(folder.c_str(), 0700);
}

}  // namespace

std::string chat_history_path() {
  if (const char* path = std::getenv("HEADRACE_CHAT_HISTORY")) return path;
  const std::string folder = folder_of_state();
  return folder.empty() ? "" : folder + "/headrace/chat_history";
}

ChatHistory::ChatHistory(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  try {
    load();
  } catch (const std::exception& e) {
    log(LogLevel::kInfo, "no history of earlier conversations: {}", e.what());
    path_.clear();
  }
}

void ChatHistory::load() {
  create_private_folders(std::filesystem::path(path_).parent_path());
  struct stat status = {};
  if (::stat(path_.c_str(), &status) != 0) return;
  if (!S_ISREG(status.st_mode)) invalid("{}: is no file", printable(path_, 500));
  const std::string text = read_file(path_);
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (end > begin) entries_.push_back(unescaped(std::string_view(text).substr(begin, end - begin)));
  if (entries_.size() > kMostEntries) entries_.erase(entries_.begin(), entries_.end() - kMostEntries);
  if (text.size() <= 2 * kMostBytes) return;
  std::string shorter;
  for (size_t i = entries_.size(); i-- > 0 && shorter.size() < kMostBytes;) shorter.insert(0, escaped(entries_[i]));
  const std::string beside = path_ + "." + std::to_string(::getpid());
  const int fd = open_private(beside, O_EXCL);
  const bool written = fd >= 0 && write_whole(fd, shorter);
  if (fd >= 0) ::close(fd);
  if (!written || ::rename(beside.c_str(), path_.c_str()) != 0) ::unlink(beside.c_str());
}

void ChatHistory::add(const std::string& text) {
  if (text.empty() || (!entries_.empty() && entries_.back() == text)) return;
  entries_.push_back(text);
  if (path_.empty() || text.size() > kLongestKept) return;
  const int fd = open_private(path_, O_APPEND);
  if (fd < 0 || !write_whole(fd, escaped(text)))
    log(LogLevel::kInfo, "{}: the history cannot be written: {}", printable(path_, 500), std::strerror(errno));
  if (fd >= 0) ::close(fd);
}

}  // namespace headrace::cli
