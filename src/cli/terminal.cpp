#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "core/error.h"

namespace headrace::cli {
namespace {

// What a handler may touch: the terminal as it was, whether it is another now, and a pipe that wakes whoever polls it.
termios original;
volatile std::sig_atomic_t is_changed = 0;
int change_pipe[2] = {-1, -1};

// A pasted text comes between marks while this is on: its line ends do not send it.
constexpr std::string_view kMarkPastes = "\033[?2004h", kMarkNoPastes = "\033[?2004l";
constexpr int kDeadly[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT};

void set_handler(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {}, before = {};
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // nohup
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

// Keys arrive one by one and are not echoed; with or without those that are signals.
void set_keys(bool signals) {
  termios mode = original;
  mode.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR | ISTRIP);
  mode.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN | ISIG);
  if (signals) mode.c_lflag |= ISIG;
  else mode.c_iflag &= ~tcflag_t(BRKINT | IXON);
  mode.c_cc[VMIN] = 1, mode.c_cc[VTIME] = 0;
  is_changed = 1;
  while (::tcsetattr(STDIN_FILENO, TCSANOW, &mode) != 0 && errno == EINTR) continue;
}

void on_deadly(int signal) {
  restore_terminal();
  ::raise(signal);  // its default by now
}

void on_change(int signal) {
  const int before = errno;
  const char byte = char(signal);
  (void)!::write(change_pipe[1], &byte, 1);
  errno = before;
}

void on_stop(int signal) {
  restore_terminal();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  set_handler(signal, on_stop, int(SA_RESTART | SA_NODEFER));  // we go on
  set_keys(true);
}

void write_all(std::string_view text) noexcept { (void)!::write(STDOUT_FILENO, text.data(), text.size()); }

}  // namespace

void restore_terminal() noexcept {
  const int before = errno;
  // To somebody in the background the terminal does not belong.
  if (is_changed && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) {
    write_all(kMarkNoPastes);
    while (::tcsetattr(STDIN_FILENO, TCSANOW, &original) != 0 && errno == EINTR) continue;
  }
  is_changed = 0;
  errno = before;
}

bool Terminal::can_edit() {
  const char* name = std::getenv("TERM");
  return ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO) && name && *name && std::string_view(name) != "dumb";
}

Terminal::Terminal() {
  if (::tcgetattr(STDIN_FILENO, &original) != 0 || (change_pipe[0] < 0 && ::pipe2(change_pipe, O_CLOEXEC | O_NONBLOCK) != 0))
    fail(ErrorCode::kInternal, "the terminal cannot be set up");
  for (int signal : kDeadly) set_handler(signal, on_deadly, int(SA_RESETHAND | SA_NODEFER));
  set_handler(SIGWINCH, on_change, SA_RESTART);
  set_handler(SIGCONT, on_change, SA_RESTART);
  set_handler(SIGTSTP, on_stop, int(SA_RESTART | SA_NODEFER));
  hide_keys();
}

Terminal::~Terminal() {
  restore_terminal();
  for (int signal : {SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGWINCH, SIGCONT, SIGTSTP}) set_handler(signal, SIG_DFL, 0);
}

void Terminal::read_keys() {
  set_keys(false);
  write_all(kMarkPastes);
}

void Terminal::hide_keys() { set_keys(true); }

void Terminal::suspend() {
  ::kill(0, SIGTSTP);  // as the terminal itself does it: to all that runs in the foreground
  read_keys();
}

Terminal::Size Terminal::size() const {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {80, 24};
  return {std::max<int>(size.ws_col, 4), std::max<int>(size.ws_row, 2)};
}

int Terminal::changed_descriptor() const { return change_pipe[0]; }
bool Terminal::acknowledge_change() {
  bool stopped = false;
  for (char signal; ::read(change_pipe[0], &signal, 1) == 1;) stopped |= signal == SIGCONT;
  return stopped;
}

}  // namespace headrace::cli
