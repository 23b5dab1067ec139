#include "cli/interrupt.h"

#include <csignal>

namespace headrace::cli {
namespace {

volatile std::sig_atomic_t requested_signal = 0;  // the one thing that a handler may touch

void listen() {
  struct sigaction action = {};
  // No SA_RESTART: a read of the keyboard ends too. SA_RESETHAND: the next one is not ours.
  action.sa_flags = int(SA_RESETHAND);
  action.sa_handler = [](int) { requested_signal = 1; };
  ::sigaction(SIGINT, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() { clear(); }
Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }
bool Interrupt::requested() const { return requested_signal != 0; }
void Interrupt::clear() {
  requested_signal = 0;
  listen();
}

}  // namespace headrace::cli
