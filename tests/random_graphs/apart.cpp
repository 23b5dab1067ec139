#include "random_graphs/apart.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "core/error.h"

namespace headrace::fuzzing {
namespace {

// What a child process says: "D undecided" when all is well, "S" when nothing was compared, "F variant \n message".
std::string report(const Findings& findings) {
  if (findings.failure) return "F" + findings.failure->variant + "\n" + findings.failure->message;
  return findings.decided ? "D" + std::to_string(findings.undecided) : "S";
}

Findings read_report(const std::string& text) {
  if (text[0] == 'S') return {.decided = false};
  if (text[0] == 'D') return {.undecided = std::stod(text.substr(1))};
  const size_t line = std::min(text.find('\n'), text.size() - 1);
  return {.failure = Failure{text.substr(1, line - 1), text.substr(line + 1)}};
}

void write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n <= 0) return;
    done += size_t(n);
  }
}

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, size_t(n));
  return text;
}

}  // namespace

Findings check_apart(const Case& graph, const std::vector<Variant>& variants, int seconds) {
  int ends[2];
  if (::pipe(ends) != 0) fail(ErrorCode::kInternal, "no pipe: {}", std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) fail(ErrorCode::kInternal, "no process: {}", std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(unsigned(seconds));
    write_all(ends[1], report(check(graph, variants)));
    ::_exit(0);
  }
  ::close(ends[1]);
  const std::string text = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) || text.empty()) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return {.failure = Failure{"process", signal == SIGALRM ? fmt::format("no end within {} s", seconds)
                                          : signal          ? fmt::format("signal {} ({})", signal, ::strsignal(signal))
                                                            : fmt::format("exit status {}", WEXITSTATUS(status))}};
  }
  return read_report(text);
}

}  // namespace headrace::fuzzing
