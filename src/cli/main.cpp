// headrace: the program. Exit codes: 0, 1 (failed: one line on standard error says why), 2 (wrong command line).
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>

#include "cli/output.h"
#include "cli/verbs.h"
#include "core/log.h"

using namespace headrace;
using namespace headrace::cli;

namespace {

// The number of a stream that is closed would go to the next file or pipe that is opened, and so would what is meant for the stream.
void keep_numbers_of_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // using it still fails
}

}  // namespace

int main(int argc, char** argv) {
  keep_numbers_of_closed_streams();
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // whoever writes sees an error instead
  const std::vector<Verb> verbs = {
      {"run", "Complete a prompt or answer a question", declare_run},
      {"chat", "A conversation in the terminal", declare_chat},
      {"embed", "Vectors of texts, from an encoder", declare_embed},
      {"build", "Make an engine file of a model", declare_build},
      {"refit", "Give an engine other weights", declare_refit},
      {"inspect", "What is in a model or an engine", declare_inspect},
      {"tokenize", "Text to token ids and back", declare_tokenize},
      {"render", "Render a chat template", declare_render},
      {"eval", "Perplexity of a text", declare_eval},
      {"bench", "Speed, next to what the machine can do", declare_bench},
      {"doctor", "What this machine has, and what is made of it", declare_doctor},
  };
  try {
    return run_program(argc, argv, verbs);
  } catch (const OutputClosed&) {
    return 0;
  } catch (const UsageError& e) {
    log_line(LogLevel::kError, e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    log_line(LogLevel::kError, "out of memory");
  } catch (const std::exception& e) {
    log_line(LogLevel::kError, e.what());
  }
  return 1;
}
