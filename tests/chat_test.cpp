// A conversation, through a pipe and at a terminal, as a person would hold it. Nothing here waits for a time to pass: only for what is
// shown.
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <utmp.h>

#include <csignal>

#include "program.h"
#include "screen.h"
#include "test_data.h"

namespace headrace {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string golden(const std::string& name) { return own_data() + "/golden/" + name; }

// ---------------------------------------------------------------------------------------------------------------- from a pipe

TEST(Chat, AnswersLineByLineFromAPipe) {
  const TempFolder scratch;
  const Outcome o = headrace(
      {"chat", golden("llama"), "-n", "4", "--ignore-eos", "--context", "128"},
      "Hello\n/system Be brief.\n\"\"\"two\nlines\"\"\"\n/regen\n/save " + (scratch / "saved.json") + "\n/clear\n/regne\n/exit\nnever\n");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json saved = read_json_file(scratch / "saved.json");
  ASSERT_EQ(saved.size(), 5u);
  EXPECT_EQ(saved[0].at("content"), "Be brief.");
  EXPECT_EQ(saved[3].at("content"), "two\nlines");
  EXPECT_THAT(o.out, AllOf(HasSubstr("/regne: no such command (did you mean /regen?)"), Not(HasSubstr("\033"))));
}

TEST(Chat, SamplesRepeatablyWithASeedAndNotAtTemperatureZero) {
  const std::vector<std::string> common = {golden("llama"), "-n", "12", "--ignore-eos"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.begin() + 1, common.begin(), common.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::string greedy = headrace(with({"run", "--chat", "Hello"}, {})).out;
  EXPECT_EQ(headrace(with({"chat"}, {"--temperature", "0"}), "Hello\n").out, greedy);
  const std::vector<std::string> defaults = {"--temperature", "0.7", "--top-p", "0.95", "--min-p", "0.05", "--seed", "7"};
  const std::string sampled = headrace(with({"run", "--chat", "Hello"}, defaults)).out;
  EXPECT_NE(sampled, greedy);
  EXPECT_EQ(headrace(with({"chat"}, {"--seed", "7"}), "Hello\n").out, sampled);
  EXPECT_EQ(headrace(with({"chat", "--seed", "7"}, {}), "/set temperature 0\nHello\n").out, "  temperature         0\n" + greedy);
  // Each answer has a seed of its own; the conversation as a whole can be repeated.
  const std::string twice = headrace(with({"chat", "--seed", "7"}, {}), "Hello\n/regen\n").out;
  EXPECT_THAT(twice, StartsWith(sampled));
  EXPECT_NE(twice, sampled + sampled);
  EXPECT_EQ(headrace(with({"chat", "--seed", "7"}, {}), "Hello\n/regen\n").out, twice);
}

TEST(Chat, ForgetsItsOldestTurnsWhenTheContextIsFull) {
  const TempFolder scratch;
  std::string input;
  for (int i = 0; i < 12; ++i) input += "Say it again, number " + std::to_string(i) + ".\n";
  const Outcome o = headrace({"chat", golden("llama"), "-n", "4", "--ignore-eos", "--context", "128", "--system", "Be brief."},
                             input + "/save " + (scratch / "saved.json") + "\n");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read_json_file(scratch / "saved.json").size(), 25u) << "what the model has forgotten is saved all the same";
  const auto notices = [&] {
    size_t count = 0;
    for (size_t at = 0; (at = o.err.find("has forgotten the", at)) != std::string::npos; ++at) ++count;
    return count;
  }();
  EXPECT_GE(notices, 1u);
  EXPECT_LE(notices, 6u) << "several turns go at once";

  const Outcome single =
      headrace({"chat", golden("llama"), "-n", "4", "--context", "128"}, "Hi\n" + std::string(5000, 'x') + "\n/undo\n/undo\n");
  EXPECT_EQ(single.code, 1);
  EXPECT_THAT(single.err, AllOf(HasSubstr("the context holds 128"), HasSubstr("/undo: nothing was asked yet")))
      << "a question too long is no part of the conversation";
  EXPECT_THAT(single.err, Not(HasSubstr("forgotten"))) << "and drives nothing out of it";
}

// ---------------------------------------------------------------------------------------------------------------- at a terminal

// The program in a terminal of its own, as a person sees it. A wait for what never comes fails after minutes, showing the screen.
class Terminal {
 public:
  struct Setting {
    int columns = 60, rows = 30;
    std::string type = "xterm", history;
    bool no_color = false;
  };
  Terminal(const std::vector<std::string>& arguments, const Setting& setting) : screen_(setting.columns, setting.rows) {
    winsize size = {static_cast<unsigned short>(setting.rows), static_cast<unsigned short>(setting.columns), 0, 0};
    if (::openpty(&master_, &slave_, nullptr, nullptr, &size) != 0) fail(ErrorCode::kInternal, "no terminal is to be had");
    ::tcgetattr(slave_, &mode_);
    std::vector<std::string> words = {HEADRACE_PROGRAM, "chat"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int report[2];
    if (::pipe(report) != 0) fail(ErrorCode::kInternal, "no pipe is to be had");
    shell_ = ::fork();
    if (shell_ == 0) {
      ::close(master_), ::close(report[0]);
      ::login_tty(slave_);
      ::setenv("TERM", setting.type.c_str(), 1);
      ::setenv("HEADRACE_CHAT_HISTORY", setting.history.c_str(), 1);
      if (setting.no_color) ::setenv("NO_COLOR", "1", 1);
      else ::unsetenv("NO_COLOR");
      act_as_shell(argv, report[1]);
    }
    ::close(report[1]);
    report_ = report[0];
    if (::read(report_, &process_, sizeof process_) != sizeof process_) fail(ErrorCode::kInternal, "no process is to be had");
  }
  explicit Terminal(const std::vector<std::string>& arguments) : Terminal(arguments, Setting()) {}
  ~Terminal() {
    if (process_ > 0) ::kill(process_, SIGKILL);
    ::kill(shell_, SIGKILL);
    ::waitpid(shell_, nullptr, 0);
    ::close(report_);
    hang_up();
  }

  void type(std::string_view text) {
    while (!text.empty()) {
      read_what_is_there(0);
      pollfd out = {master_, POLLOUT, 0};
      if (::poll(&out, 1, 1000) != 1) continue;
      const ssize_t written = ::write(master_, text.data(), std::min<size_t>(text.size(), 512));
      ASSERT_GT(written, 0);
      text.remove_prefix(size_t(written));
    }
  }
  template <typename Condition>
  void wait(const std::string& for_what, Condition&& is_there) {
    for (int seconds = 0; !is_there();) {
      if (!read_what_is_there(1000) && ++seconds == 180) {
        ADD_FAILURE() << "waited in vain for " << for_what << "; the screen:\n" << screen_.text();
        std::exit(1);
      }
    }
  }
  void wait_for(const std::string& text) {
    wait("'" + text + "'", [&] { return screen_.text().find(text) != std::string::npos; });
  }
  // An empty prompt below this text.
  void wait_for_prompt_below(const std::string& text) {
    wait("a prompt below '" + text + "'", [&] { return screen_.cursor_line() == ">" && screen_.text().find(text) != std::string::npos; });
  }
  void wait_for_line(const std::string& line) {
    wait("the line '" + line + "'", [&] { return screen_.cursor_line() == line; });
  }
  // The prompt, once all that was typed before has been dealt with.
  void settle() {
    const std::string mark = "mark" + std::to_string(++num_marks_);
    type(mark);
    wait_for_line("> " + mark);
    type("\x15");
    wait_for_line(">");
  }
  Json saved(const TempFolder& scratch) {
    type("/save " + (scratch / "saved.json") + "\r");
    settle();
    return read_json_file(scratch / "saved.json");
  }
  // How the program ended, or stopped: 128 + N by signal N; -1 when its terminal went first.
  int exit_code() {
    pollfd reported = {report_, POLLIN, 0};
    wait("the end", [&] { return ::poll(&reported, 1, 0) == 1 || (read_what_is_there(10), ::poll(&reported, 1, 10) == 1); });
    int status = 0;
    const bool known = ::read(report_, &status, sizeof status) == sizeof status;
    while (read_what_is_there(0)) continue;
    if (known && WIFSTOPPED(status)) return 128 + WSTOPSIG(status);
    process_ = -1;
    return !known ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void signal(int number) { ::kill(process_, number); }
  void resize(int columns, int rows) {
    winsize size = {static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
    screen_.resize(columns);
    ::ioctl(slave_, TIOCSWINSZ, &size);
  }
  void hang_up() {
    if (master_ >= 0) ::close(master_), ::close(slave_);
    master_ = slave_ = -1;
  }
  bool is_as_it_was() const {
    termios now = {};
    ::tcgetattr(slave_, &now);
    return now.c_lflag == mode_.c_lflag && now.c_iflag == mode_.c_iflag && now.c_oflag == mode_.c_oflag && !screen_.marks_pastes();
  }
  const Screen& screen() const { return screen_; }
  const std::string& bytes() const { return bytes_; }

 private:
  // What a shell does: the program has the terminal, in a process group of its own; its end and its stops are reported.
  [[noreturn]] static void act_as_shell(const std::vector<char*>& argv, int report) {
    const pid_t program = ::fork();
    if (program == 0) {
      std::signal(SIGTTOU, SIG_IGN);
      ::setpgid(0, 0);
      ::tcsetpgrp(STDIN_FILENO, ::getpid());
      std::signal(SIGTTOU, SIG_DFL);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    (void)!::write(report, &program, sizeof program);
    for (int status;;) {
      if (::waitpid(program, &status, WUNTRACED) != program) ::pause();
      (void)!::write(report, &status, sizeof status);
    }
  }

  // False when there was nothing for so long.
  bool read_what_is_there(int timeout_ms) {
    pollfd in = {master_, POLLIN, 0};
    if (::poll(&in, 1, timeout_ms) != 1) return false;
    char bytes[4096];
    const ssize_t got = ::read(master_, bytes, sizeof bytes);
    if (got <= 0) return false;
    screen_.write({bytes, size_t(got)});
    bytes_.append(bytes, size_t(got));
    return true;
  }

  int master_ = -1, slave_ = -1, report_ = -1, num_marks_ = 0;
  pid_t shell_ = -1, process_ = -1;
  termios mode_ = {};
  Screen screen_;
  std::string bytes_;
};

const std::vector<std::string> kBrief = {golden("llama"), "-n", "2", "--ignore-eos", "--threads", "1"};

TEST(ChatTerminal, ALineIsEditedWithTheKeysThatPeopleKnow) {
  const TempFolder scratch;
  Terminal terminal(kBrief);
  terminal.wait_for_line(">");
  terminal.type(
      "orld x\x1b[H"
      "Hello w\x1b[F\x7f\x7f\x1b[D\x1b[D\x1b[3~l\x01\x1b[1;5C, \xe6\x97\xa5\xc3\xa9\x05!");
  terminal.wait_for_line("> Hello, \xe6\x97\xa5\xc3\xa9 world!");
  EXPECT_EQ(terminal.screen().cursor_column(), 19);
  terminal.type("\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x7f\x17\x19\x1b[15~\x1bOP\r");
  terminal.settle();
  EXPECT_EQ(terminal.saved(scratch)[0].at("content"), "Hello, \xe6\x97\xa5 world!");
  terminal.type("\x04");
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.is_as_it_was());
}

TEST(ChatTerminal, ALongLineRunsOverSeveralRowsOfANarrowScreen) {
  Terminal terminal(kBrief, {.columns = 12, .rows = 6});
  terminal.wait_for_line(">");
  terminal.type("abcdefghij");
  terminal.wait("a full row, and the cursor below", [&] {
    return terminal.screen().cursor_line() == "" && terminal.screen().row(terminal.screen().cursor_row() - 1) == "> abcdefghij";
  });
  terminal.type(
      "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
      "12345\xe6\x97\xa5z");
  terminal.wait_for_line("\xe6\x97\xa5z");
  const int row = terminal.screen().cursor_row();
  EXPECT_EQ(terminal.screen().row(row - 1),
            "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
            "12345");
  terminal.type("\x01");
  terminal.wait("the cursor at the begin", [&] { return terminal.screen().cursor_column() == 2; });
  terminal.type("\x0b");
  terminal.wait("an empty line", [&] { return terminal.screen().cursor_line() == ">" && terminal.screen().cursor_row() == row - 2; });
  EXPECT_EQ(terminal.screen().row(row - 1), "") << "what was cut is gone from the screen";
  terminal.resize(8, 6);
  terminal.type("abcdefg");
  terminal.wait_for_line("g");
  EXPECT_EQ(terminal.screen().row(terminal.screen().cursor_row() - 1), "> abcdef");
}

TEST(ChatTerminal, APastedTextIsOneMessageHoweverManyLinesItHas) {
  const TempFolder scratch;
  Terminal terminal(kBrief, {.rows = 5});
  terminal.wait_for_line(">");
  EXPECT_TRUE(terminal.screen().marks_pastes());
  terminal.type("see \x1b[200~a\\\rb\r\n/exit\r\"\"\"\re\x1b[2J\xff\rf\r\r\x1b[201~");
  terminal.wait("its last rows", [&] { return terminal.screen().text().ends_with(". f\n.\n."); });
  EXPECT_EQ(terminal.screen().text(), ". \"\"\"\n. e[2J\xef\xbf\xbd\n. f\n.\n.") << "as many rows as the screen has";
  terminal.type("\r");
  terminal.settle();
  EXPECT_EQ(terminal.saved(scratch)[0].at("content"), "see a\\\nb\n/exit\n\"\"\"\ne[2J\xef\xbf\xbd\nf");
}

TEST(ChatTerminal, AVeryLongPasteIsRefusedForItsLengthAlone) {
  const TempFolder scratch;
  Terminal terminal(kBrief, {.columns = 100, .rows = 10});
  terminal.wait_for_line(">");
  std::string lines;
  while (lines.size() < 100000) lines += "the quick brown fox jumps over the lazy dog\r";
  terminal.type("\x1b[200~" + lines + "\x1b[201~");
  terminal.wait("its end", [&] { return terminal.screen().cursor_row() == 9 && terminal.screen().row(8).ends_with("lazy dog"); });
  terminal.type("\r");
  terminal.wait_for("the context holds 128");
  terminal.settle();
  terminal.type("short\r");
  terminal.settle();
  EXPECT_EQ(terminal.saved(scratch).size(), 2u);
}

TEST(ChatTerminal, SeveralLinesCanBeTyped) {
  const TempFolder scratch;
  Terminal terminal(kBrief);
  terminal.wait_for_line(">");
  terminal.type("one\x1b\rtwo\\\rthree\x1b[A\x1b[A!\x1b[B\x1b[B\x05.");
  terminal.wait_for_line(". three.");
  terminal.type("\r");
  terminal.settle();
  terminal.type("\"\"\"four\r\rfive\"\"\"\r");
  terminal.settle();
  const Json saved = terminal.saved(scratch);
  EXPECT_EQ(saved[0].at("content"), "one!\ntwo\nthree.");
  EXPECT_EQ(saved[2].at("content"), "four\n\nfive");
}

TEST(ChatTerminal, EarlierLinesComeBackInTheNextSessionToo) {
  const TempFolder scratch;
  const Terminal::Setting setting = {.history = scratch / "state/history"};
  {
    Terminal terminal(kBrief, setting);
    terminal.wait_for_line(">");
    terminal.type("first\rtwo\x1b\rlines\r");
    terminal.settle();
    terminal.type("/exit\r");
    EXPECT_EQ(terminal.exit_code(), 0);
  }
  Terminal terminal(kBrief, setting);
  terminal.wait_for_line(">");
  terminal.type("draft\x1b[A");
  terminal.wait_for_line("> /exit");
  terminal.type("\x1b[A");
  terminal.wait_for_line(". lines");
  terminal.type("\x1b[A\x1b[A");  // through its lines to the entry before
  terminal.wait_for_line("> first");
  terminal.type("\x1b[A\x1b[A");
  terminal.type("\x0e\x0e");
  terminal.wait_for_line("> /exit");
  terminal.type("\x1b[B\x1b[B!");
  terminal.wait_for_line("> draft!");
}

TEST(ChatTerminal, TabCompletesCommandsAndTheirSettingsAndHelpFitsTheScreen) {
  Terminal terminal(kBrief, {.columns = 80});
  terminal.wait_for_line(">");
  terminal.type("/sa\t");
  terminal.wait_for_line("> /save");
  EXPECT_EQ(terminal.screen().cursor_column(), 8) << "a name follows";
  terminal.type("\x15/s\t");
  terminal.wait_for("/system   /set   /save   /stats\n> /s");
  terminal.type("et te\t0.25\r");
  terminal.wait_for_prompt_below("temperature         0.25");
  terminal.type("/help\r");
  terminal.wait_for_prompt_below("/ begins no command");
  for (int i = 0; i < 30; ++i) EXPECT_NE(terminal.screen().row(i).size(), 80u) << "too long for a row: " << terminal.screen().row(i);
  terminal.type("plain\t");
  terminal.wait_for_line("> plain");
}

TEST(ChatTerminal, CtrlCDropsWhatWasWrittenAndNeverEndsAConversationByItself) {
  const TempFolder scratch;
  Terminal terminal(kBrief);
  terminal.wait_for_line(">");
  terminal.type("Hello\r");
  terminal.settle();
  terminal.type("half a line\x03");
  terminal.wait_for_prompt_below("> half a line^C\nCtrl-C again");
  EXPECT_EQ(terminal.saved(scratch).size(), 2u) << "the conversation is still there, without the half line";
  terminal.signal(SIGINT);  // as from elsewhere
  terminal.wait_for_prompt_below("> ^C\nCtrl-C again");
  terminal.type("\x03");
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.is_as_it_was());
}

// One whose answers last for ages.
std::string tireless_model(const TempFolder& scratch) {
  const std::string path = scratch / "model";
  std::filesystem::copy(golden("llama"), path);
  Json config = read_json_file(path + "/config.json");
  config["max_position_embeddings"] = 200000;
  write_text(path + "/config.json", config.dump());
  return path;
}

TEST(ChatTerminal, CtrlCStopsAnAnswerAndWhatWasTypedAhead) {
  const TempFolder scratch;
  Terminal terminal({tireless_model(scratch), "--ignore-eos", "--threads", "1"});
  terminal.wait_for_line(">");
  terminal.type("Hello\r");
  const size_t asked = terminal.bytes().size();
  terminal.wait("an answer", [&] { return terminal.bytes().size() > asked + 300; });
  terminal.type("not meant\rany more");
  terminal.type("\x03");
  terminal.wait_for_prompt_below("Stopped.");
  EXPECT_THAT(terminal.screen().text(), HasSubstr(" of 200000 tokens"));
  EXPECT_EQ(terminal.saved(scratch).size(), 2u);
  terminal.type("\x04");
  EXPECT_EQ(terminal.exit_code(), 0);
}

TEST(ChatTerminal, TheTerminalIsGivenBackWhateverEndsTheProgram) {
  for (const int number : {SIGTERM, SIGHUP, SIGQUIT, SIGABRT}) {
    SCOPED_TRACE(number);
    Terminal terminal(kBrief);
    terminal.wait_for_line(">");
    EXPECT_FALSE(terminal.is_as_it_was());
    terminal.signal(number);
    EXPECT_EQ(terminal.exit_code(), 128 + number);
    EXPECT_TRUE(terminal.is_as_it_was());
  }
  const TempFolder scratch;
  const std::string model = tireless_model(scratch);
  Terminal terminal({model, "--ignore-eos", "--threads", "1"});
  terminal.wait_for_line(">");
  terminal.type("Hello\r");
  const size_t asked = terminal.bytes().size();
  terminal.wait("an answer", [&] { return terminal.bytes().size() > asked + 300; });
  terminal.signal(SIGTERM);
  EXPECT_EQ(terminal.exit_code(), 128 + SIGTERM);
  EXPECT_TRUE(terminal.is_as_it_was());
}

TEST(ChatTerminal, AClosedTerminalEndsTheProgram) {
  Terminal terminal(kBrief);
  terminal.wait_for_line(">");
  terminal.hang_up();
  EXPECT_EQ(terminal.exit_code(), -1) << "everything that had it open has gone";
}

TEST(ChatTerminal, CtrlZGivesTheTerminalBackUntilTheProgramGoesOn) {
  const TempFolder scratch;
  Terminal terminal(kBrief);
  terminal.wait_for_line(">");
  terminal.type("half");
  terminal.wait_for_line("> half");
  terminal.type("\x1a");
  EXPECT_EQ(terminal.exit_code(), 128 + SIGTSTP);
  EXPECT_TRUE(terminal.is_as_it_was());
  terminal.signal(SIGCONT);
  terminal.wait_for("> half^Z\n> half");
  terminal.type(" a line\r");
  terminal.settle();
  EXPECT_EQ(terminal.saved(scratch)[0].at("content"), "half a line");
}

TEST(ChatTerminal, OneThatCannotBeDrawnOnGetsPlainLines) {
  const TempFolder scratch;
  Terminal terminal(kBrief, {.type = "dumb"});
  terminal.wait_for_line(">");
  terminal.type("\x1b[A\n");  // the arrow up alone asks nothing
  terminal.type("He\x1b[1;5Dll\x1bOPo\x1b[3~, \xc3\xa9\n");
  terminal.type("/save " + (scratch / "saved.json") + "\n");
  terminal.wait_for_prompt_below("2 messages");
  EXPECT_EQ(read_json_file(scratch / "saved.json")[0].at("content"), "Hello, \xc3\xa9");
  EXPECT_THAT(terminal.bytes(), Not(HasSubstr("\033")));
  terminal.type("half a line\x03");
  terminal.wait_for("Ctrl-C again");
  terminal.type("\x04");
  EXPECT_EQ(terminal.exit_code(), 0);
}

TEST(ChatTerminal, ColoursAreOnlyForThoseWhoWantThem) {
  for (const bool no_color : {false, true}) {
    Terminal terminal(kBrief, {.no_color = no_color});
    terminal.wait_for_line(">");
    terminal.type("Hello\r");
    terminal.settle();
    EXPECT_EQ(terminal.bytes().find("m> ") == std::string::npos, no_color);
    EXPECT_EQ(terminal.bytes().find("\033[2m") == std::string::npos, no_color);
  }
}

}  // namespace
}  // namespace headrace
