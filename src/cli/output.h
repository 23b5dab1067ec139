// Standard output, unbuffered: what a program reads at the other end of a pipe comes as soon as it is there.
#pragma once

#include <string>
#include <string_view>

namespace headrace::cli {

// Nobody reads standard output any more: the program ends quietly.
struct OutputClosed {};

// Throws OutputClosed, or Error when it cannot be written for another reason (a full disk).
void write_output(std::string_view text);

// A model's text: to a terminal it is cleaned.
void write_text(std::string_view text);

// What neither steers a terminal nor fails to be a text: valid UTF-8, line ends as \n, no control characters but these and tabs.
std::string cleaned(std::string_view text);

// All of standard input. Throws Error when it is closed or cannot be read.
std::string read_input();
std::string read_file(const std::string& path);

// For people, in decimal units: 96576768 is "96.6 MB".
std::string in_units(double value, const std::string& unit = "B");

bool output_is_terminal();
bool input_is_terminal();
bool errors_are_terminal();

}  // namespace headrace::cli
