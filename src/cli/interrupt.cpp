#include "cli/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "cli/terminal.h"
#include "core/error.h"

namespace headrace::cli {
namespace {

// What a handler may touch: a flag, and a pipe that wakes whoever polls it.
volatile std::sig_atomic_t requested_signal = 0;
int wake_pipe[2] = {-1, -1};

void listen() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) {
    if (requested_signal) {  // a second one is not ours
      restore_terminal();
      ::signal(signal, SIG_DFL);
      ::raise(signal);
    }
    requested_signal = 1;
    (void)!::write(wake_pipe[1], "", 1);
  };
  ::sigaction(SIGINT, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  if (wake_pipe[0] < 0 && ::pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    fail(ErrorCode::kOutOfMemory, "no pipe for interrupts is to be had");
  clear();
}
Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }
bool Interrupt::requested() const { return requested_signal != 0; }
int Interrupt::descriptor() const { return wake_pipe[0]; }
void Interrupt::clear() {
  for (char byte; ::read(wake_pipe[0], &byte, 1) == 1;) continue;
  requested_signal = 0;
  listen();
}

}  // namespace headrace::cli
