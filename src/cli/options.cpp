#include "cli/options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>

#include "cli/nearest.h"
#include "cli/output.h"
#include "core/error.h"

namespace headrace::cli {
namespace {

template <typename T>
void parse_number(const std::string& text, T& value, const char* wanted) {
  const char* begin = text.data() + (text.starts_with('+') && text.size() > 1 && text[1] != '-' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("'{}' is not {}", printable(text), error == std::errc::result_out_of_range ? "in range" : wanted));
}

}  // namespace

void parse_value(const std::string& text, std::string& value) { value = text; }
void parse_value(const std::string& text, int& value) { parse_number(text, value, "a whole number"); }
void parse_value(const std::string& text, uint64_t& value) { parse_number(text, value, "a whole number from 0"); }
void parse_value(const std::string& text, float& value) { parse_number(text, value, "a number"); }
void parse_value(const std::string& text, std::vector<std::string>& values) { values.push_back(text); }

void parse_value(const std::string& text, std::vector<int32_t>& values) {
  if (text.empty()) return;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    item.erase(0, item.find_first_not_of(" \t\n"));
    item.erase(item.find_last_not_of(" \t\n") + 1);
    parse_number(item, values.emplace_back(), "a whole number (a list is written 1,2,3)");
    begin = end + 1;
  }
}

// ---------------------------------------------------------------------------------------------------------------- options

namespace {

// A reader's error, with the option's name in front.
void set_named(const std::string& names, const std::function<void(const std::string&)>& set, const std::string& text) {
  try {
    set(text);
  } catch (const UsageError& e) {
    const size_t last = names.rfind(',');
    throw UsageError((last == std::string::npos ? names : names.substr(last + 1)) + ": " + e.what());
  }
}

CLI::callback_t reader(const std::string& names, std::function<void(const std::string&)> set) {
  return [names, set = std::move(set)](const CLI::results_t& results) {
    for (const std::string& text : results) set_named(names, set, text);
    return true;
  };
}

}  // namespace

void Options::add(const std::string& names, const std::string& placeholder, const std::string& help,
                  std::function<void(const std::string&)> set) {
  CLI::Option* option = app_.add_option(names, reader(names, std::move(set)), help);
  option->type_name(placeholder)->group(heading_)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Options::words(const std::string& names, const std::string& placeholder, std::vector<std::string>& to, const std::string& help) {
  CLI::Option* option = app_.add_option(names, reader(names, [&to](const std::string& text) { to.push_back(text); }), help);
  option->type_name(placeholder)->group(heading_)->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
}

void Options::positional(const std::string& name, std::string& to, const std::string& help, bool required) {
  app_.add_option(name, reader(name, [&to](const std::string& text) { to = text; }), help)->type_name("")->required(required);
}

void Options::flag(const std::string& names, bool& to, const std::string& help) {
  app_.add_flag(names, to, help)->group(heading_)->disable_flag_override()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Options::flag_with_value(const std::string& name, const std::string& placeholder, const std::string& value_if_bare,
                              std::function<void(const std::string&)> set, const std::string& help) {
  const auto text = std::make_shared<std::string>();
  CLI::Option* flag = app_.add_flag(name + "{" + value_if_bare + "}", *text, help);
  flag->type_name("[=" + placeholder + "]")->group(heading_);
  after_parse_.push_back([flag, text, name, set = std::move(set)] {
    if (flag->count() > 0) set_named(name, set, *text);
  });
}

void Options::footer(const std::string& text) { app_.footer(text); }

int Options::execute() const {
  for (const auto& action : after_parse_) action();
  return run_();
}

// ---------------------------------------------------------------------------------------------------------------- program

namespace {

// One empty line between groups, and a flag's value in one spelling: "--flag [=VALUE]".
class HelpFormatter : public CLI::Formatter {
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
    return text;
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    if (const size_t brace = name.find('{'); brace != std::string::npos) name.erase(brace, name.find('}', brace) + 1 - brace);
    return name;
  }
};

std::string perhaps(const std::string& near) { return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near); }

std::string unknown_verb(const std::string& word, const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  return fmt::format("'{}' is no verb{}; there are {} (see 'headrace --help')", printable(word), perhaps(nearest(word, names)),
                     fmt::join(names, ", "));
}

// What is wrong with the first word that nothing took.
std::string unexpected(const CLI::App& app, const std::string& command, const std::string& word) {
  if (!word.starts_with('-'))
    return fmt::format("'{}' is one word too many for '{}'; quote a text of several words", printable(word), command);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return fmt::format("'{}' is no option of '{}'{}", printable(word), command, perhaps(nearest(word.substr(0, word.find('=')), names)));
}

std::string message_of(const CLI::App& app, const CLI::ParseError& e) {
  const std::vector<const CLI::App*> verbs = app.get_subcommands(nullptr);
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const CLI::App* v) { return app.got_subcommand(v->get_name()); });
  const CLI::App& where = verb == verbs.end() ? app : **verb;
  const std::string command = verb == verbs.end() ? "headrace" : "headrace " + where.get_name();
  const std::vector<std::string> extras = app.remaining(true);
  const std::string what = extras.empty() ? std::string(e.what()) : unexpected(where, command, extras.front());
  return fmt::format("{}; see '{} --help'", what, command);
}

}  // namespace

int run_program(int argc, const char* const* argv, const std::vector<Verb>& verbs) {
  CLI::App app("Headrace runs transformer language models: from a checkpoint to text.", "headrace");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", fmt::format("headrace {}", version()));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer("'headrace VERB --help' says more. MODEL is a Hugging Face folder, a .gguf file or an engine made by 'headrace build'.");
  std::deque<Options> options;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    verb.declare(options.emplace_back(*sub));
  }
  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return 2;
  }
  const auto is_verb = [&](const std::string& word) {
    return std::any_of(verbs.begin(), verbs.end(), [&](const Verb& v) { return v.name == word; });
  };
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words[0] == "help") words = words.size() > 1 ? std::vector<std::string>{words[1], "--help"} : std::vector<std::string>{"--help"};
  if (!words[0].starts_with('-') && !is_verb(words[0])) throw UsageError(unknown_verb(words[0], verbs));
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    write_output(app.help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    write_output(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::ParseError& e) {
    throw UsageError(message_of(app, e));
  }
  for (size_t i = 0; i < verbs.size(); ++i)
    if (app.got_subcommand(verbs[i].name)) return options[i].execute();
  throw UsageError("no verb");
}

}  // namespace headrace::cli
