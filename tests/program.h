// Runs the program as a person would.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/test_support.h"

namespace headrace {

using test::TempFolder;

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
inline void write_text(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

struct Outcome {
  int code;  // 128 + N when signal N ended it
  std::string out, err;
  Json json() const { return parse_json(out, "the program's output"); }
};

// HEADRACE_PROGRAM is defined by CMake.
inline Outcome headrace(const std::vector<std::string>& arguments, const std::string& input = "") {
  const TempFolder scratch;
  const auto quoted = [](const std::string& word) {
    std::string q = "'";
    for (char c : word) q += c == '\'' ? "'\\''" : std::string(1, c);
    return q + "'";
  };
  write_text(scratch / "in", input);
  std::string command = quoted(HEADRACE_PROGRAM);
  for (const std::string& a : arguments) command += " " + quoted(a);
  command += " <" + quoted(scratch / "in") + " >" + quoted(scratch / "out") + " 2>" + quoted(scratch / "err");
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read_text(scratch / "out"), read_text(scratch / "err")};
}

}  // namespace headrace
