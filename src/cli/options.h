// How a verb says what it takes on the command line. A thin interface, so that the parser behind it is compiled once (options.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headrace::cli {

// The command line itself is wrong: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One value, from its text. All throw UsageError. Vectors of numbers are comma-separated; each use of the option adds to a vector.
void parse_value(const std::string& text, std::string& value);
void parse_value(const std::string& text, int& value);
void parse_value(const std::string& text, uint64_t& value);
void parse_value(const std::string& text, float& value);
void parse_value(const std::string& text, std::vector<std::string>& values);
void parse_value(const std::string& text, std::vector<int32_t>& values);
template <typename T>
void parse_value(const std::string& text, std::optional<T>& value) {
  parse_value(text, value.emplace());
}

class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  // names: "-n,--max-tokens"; placeholder: what stands for the value in the help, "N".
  template <typename T>
  void value(const std::string& names, const std::string& placeholder, T& to, const std::string& help) {
    add(names, placeholder, help, [&to](const std::string& text) { parse_value(text, to); });
  }
  // The same for any other reader of the text.
  void value(const std::string& names, const std::string& placeholder, std::function<void(const std::string&)> set,
             const std::string& help) {
    add(names, placeholder, help, std::move(set));
  }
  // An option that takes all words up to the next option.
  void words(const std::string& names, const std::string& placeholder, std::vector<std::string>& to, const std::string& help);
  void positional(const std::string& name, std::string& to, const std::string& help, bool required = true);
  void flag(const std::string& names, bool& to, const std::string& help);
  // "--name" or "--name=VALUE"; never takes the next word.
  void flag_with_value(const std::string& name, const std::string& placeholder, const std::string& value_if_bare,
                       std::function<void(const std::string&)> set, const std::string& help);

  // The heading in the help of what is declared from here on.
  void heading(std::string text) { heading_ = std::move(text); }
  // A paragraph below the options.
  void footer(const std::string& text);
  // What the verb does once everything is parsed; returns the exit code.
  void run(std::function<int()> body) { run_ = std::move(body); }

  // For the program: after a successful parse.
  int execute() const;

 private:
  void add(const std::string& names, const std::string& placeholder, const std::string& help, std::function<void(const std::string&)> set);

  CLI::App& app_;
  std::string heading_ = "Options";
  std::function<int()> run_;
  std::vector<std::function<void()>> after_parse_;
};

struct Verb {
  const char* name;
  const char* summary;
  void (*declare)(Options& options);
};

// Parses and runs. Throws UsageError for a wrong command line, whatever the verb throws otherwise. Returns the exit code.
int run_program(int argc, const char* const* argv, const std::vector<Verb>& verbs);

}  // namespace headrace::cli
