#include "jinja/strftime.h"

#include <cstdio>

#include "core/error.h"
#include "jinja/runtime.h"

namespace headrace::jinja {
namespace {

constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};

std::string padded(int number, int width, char fill) {
  switch (fill) {
    case '-': return std::to_string(number);
    case '_': return fmt::format("{:{}}", number, width);
    default: return fmt::format("{:0{}}", number, width);
  }
}

int hour12(const std::tm& t) { return t.tm_hour % 12 == 0 ? 12 : t.tm_hour % 12; }

// ISO 8601: weeks begin on Monday, the first one has the year's first Thursday.
struct IsoWeek {
  int year, week;
};
IsoWeek iso_week(const std::tm& t) {
  const int weekday = (t.tm_wday + 6) % 7;  // Monday is 0
  const auto is_leap = [](int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; };
  const auto weeks_in = [&](int year) {
    const auto first_weekday = [](int y) {
      return (1 + 5 * ((y - 1) % 4) + 4 * ((y - 1) % 100) + 6 * ((y - 1) % 400)) % 7;
    };  // Sunday is 0
    return first_weekday(year) == 4 || (first_weekday(year) == 3 && is_leap(year)) ? 53 : 52;
  };
  const int year = t.tm_year + 1900, week = (t.tm_yday - weekday + 10) / 7;
  if (week < 1) return {year - 1, weeks_in(year - 1)};
  if (week > weeks_in(year)) return {year + 1, 1};
  return {year, week};
}

std::string directive(const std::tm& t, char code, char fill) {
  const int year = t.tm_year + 1900;
  const char zero = fill ? fill : '0', space = fill ? fill : '_';
  const std::string_view day = kDays[size_t(t.tm_wday) % 7], month = kMonths[size_t(t.tm_mon) % 12];
  switch (code) {
    case 'a': return std::string(day.substr(0, 3));
    case 'A': return std::string(day);
    case 'b':
    case 'h': return std::string(month.substr(0, 3));
    case 'B': return std::string(month);
    case 'c': return format_time(t, "%a %b %e %H:%M:%S %Y");
    case 'C': return padded(year / 100, 2, zero);
    case 'd': return padded(t.tm_mday, 2, zero);
    case 'D':
    case 'x': return format_time(t, "%m/%d/%y");
    case 'e': return padded(t.tm_mday, 2, space);
    case 'f': return "000000";
    case 'F': return format_time(t, "%Y-%m-%d");
    case 'g': return padded(iso_week(t).year % 100, 2, zero);
    case 'G': return std::to_string(iso_week(t).year);
    case 'H': return padded(t.tm_hour, 2, zero);
    case 'I': return padded(hour12(t), 2, zero);
    case 'j': return padded(t.tm_yday + 1, 3, zero);
    case 'k': return padded(t.tm_hour, 2, space);
    case 'l': return padded(hour12(t), 2, space);
    case 'm': return padded(t.tm_mon + 1, 2, zero);
    case 'M': return padded(t.tm_min, 2, zero);
    case 'n': return "\n";
    case 'p': return t.tm_hour < 12 ? "AM" : "PM";
    case 'P': return t.tm_hour < 12 ? "am" : "pm";
    case 'r': return format_time(t, "%I:%M:%S %p");
    case 'R': return format_time(t, "%H:%M");
    case 's': {
      std::tm copy = t;
      return std::to_string(std::mktime(&copy));
    }
    case 'S': return padded(t.tm_sec, 2, zero);
    case 't': return "\t";
    case 'T':
    case 'X': return format_time(t, "%H:%M:%S");
    case 'u': return std::to_string(t.tm_wday == 0 ? 7 : t.tm_wday);
    case 'U': return padded((t.tm_yday + 7 - t.tm_wday) / 7, 2, zero);
    case 'V': return padded(iso_week(t).week, 2, zero);
    case 'w': return std::to_string(t.tm_wday);
    case 'W': return padded((t.tm_yday + 7 - (t.tm_wday + 6) % 7) / 7, 2, zero);
    case 'y': return padded(year % 100, 2, zero);
    case 'Y': return std::to_string(year);
    case 'z':
    case 'Z': return "";
    case '%': return "%";
    default: invalid("strftime: unknown directive '%{}'", printable(std::string_view(&code, 1)));
  }
}

}  // namespace

std::string format_time(const std::tm& time, std::string_view format) {
  Text out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out.add(1, format[i]);
      continue;
    }
    char fill = '\0';
    if (i + 2 < format.size() && std::string_view("-_0").find(format[i + 1]) != std::string_view::npos) fill = format[++i];
    out.add(directive(time, format[++i], fill));
  }
  return out.take();
}

std::tm parse_time(std::string_view text) {
  const std::string copy(text);
  std::tm time{};
  char separator = ' ';
  int end_of_date = 0, end_of_minutes = 0, end_of_seconds = 0;
  const int count = std::sscanf(copy.c_str(), "%4d-%2d-%2d%n%c%2d:%2d%n:%2d%n", &time.tm_year, &time.tm_mon, &time.tm_mday, &end_of_date,
                                &separator, &time.tm_hour, &time.tm_min, &end_of_minutes, &time.tm_sec, &end_of_seconds);
  const int end = count == 7 ? end_of_seconds : count == 6 ? end_of_minutes : count == 3 ? end_of_date : 0;
  const bool in_range = time.tm_year >= 1 && time.tm_mon >= 1 && time.tm_mon <= 12 && time.tm_mday >= 1 && time.tm_mday <= 31 &&
                        time.tm_hour >= 0 && time.tm_hour <= 23 && time.tm_min >= 0 && time.tm_min <= 59 && time.tm_sec >= 0 &&
                        time.tm_sec <= 59;
  if (size_t(end) != copy.size() || copy.empty() || (separator != ' ' && separator != 'T') || !in_range)
    invalid("found the date '{}', wanted YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS", printable(text));
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  const int day = time.tm_mday;
  time.tm_isdst = -1;
  std::mktime(&time);  // fills in the days of the week and of the year
  if (time.tm_mday != day) invalid("the date '{}' does not exist", printable(text));
  return time;
}

}  // namespace headrace::jinja
