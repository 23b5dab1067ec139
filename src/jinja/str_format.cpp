#include "jinja/str_format.h"

#include <algorithm>

#include "core/error.h"
#include "jinja/attributes.h"
#include "jinja/format_spec.h"
#include "jinja/number_text.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

class Formatter {
 public:
  Formatter(Runtime& runtime, const CallArguments& arguments, bool escapes) : runtime_(runtime), arguments_(arguments), escapes_(escapes) {}

  // `depth`: how many specifications may still hold fields of their own.
  std::string format(std::string_view text, int depth) {
    Text out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '{' && text[i] != '}') {
        out.add(1, text[i]);
      } else if (i + 1 < text.size() && text[i + 1] == text[i]) {
        out.add(1, text[i++]);
      } else if (text[i] == '}') {
        invalid("format(): single '}}' encountered in the format string");
      } else {
        const size_t end = end_of_field(text, i);
        out.add(field(text.substr(i + 1, end - i - 1), depth));
        i = end;
      }
    }
    return out.take();
  }

 private:
  static size_t end_of_field(std::string_view text, size_t start) {
    int open = 0;
    for (size_t i = start; i < text.size(); ++i) {
      if (text[i] == '{') ++open;
      if (text[i] == '}' && --open == 0) return i;
    }
    invalid("format(): expected '}}' before the end of the string");
  }

  std::string field(std::string_view field, int depth) {
    runtime_.step();
    const size_t end_of_name = std::min(find_outside_brackets(field), field.size());
    Value value = lookup(field.substr(0, end_of_name));
    std::string_view rest = field.substr(end_of_name);
    if (rest.starts_with('!')) {
      if (rest.size() < 2) invalid("format(): a conversion is missing after '!'");
      value = convert(value, rest[1]);
      rest.remove_prefix(2);
      if (!rest.empty() && rest[0] != ':') invalid("format(): expected ':' after the conversion");
    }
    if (!rest.empty()) rest.remove_prefix(1);
    std::string spec(rest);
    if (spec.find_first_of("{}") != spec.npos) {
      if (depth == 0) invalid("format(): max string recursion exceeded");
      spec = format(spec, depth - 1);
    }
    std::string text = spec.empty() ? to_text(runtime_, value) : format_value(value, FormatSpec::parse(spec));
    return escapes_ && !is_markup(value) ? escape_html(text) : text;
  }

  // Where the name ends: at '!' or ':' that stands in no [].
  static size_t find_outside_brackets(std::string_view field) {
    bool inside = false;
    for (size_t i = 0; i < field.size(); ++i) {
      if (field[i] == '[') inside = true;
      if (field[i] == ']') inside = false;
      if (!inside && (field[i] == '!' || field[i] == ':')) return i;
    }
    return field.npos;
  }

  Value convert(const Value& value, char conversion) {
    if (conversion == 's') return runtime_.string(to_text(runtime_, value));
    if (conversion == 'r') return runtime_.string(repr(runtime_, value));
    invalid("format(): unknown conversion '{}'", printable(std::string_view(&conversion, 1)));
  }

  Value positional(size_t index) {
    if (index >= arguments_.positional.size()) invalid("format(): replacement index {} out of range", index);
    return arguments_.positional[index];
  }

  Value first(std::string_view name) {
    if (name.empty()) {
      if (numbering_ == Numbering::kManual) invalid("format(): cannot switch from manual to automatic field numbering");
      numbering_ = Numbering::kAutomatic;
      return positional(next_++);
    }
    if (name.find_first_not_of("0123456789") == name.npos) {
      if (numbering_ == Numbering::kAutomatic) invalid("format(): cannot switch from automatic to manual field numbering");
      numbering_ = Numbering::kManual;
      return positional(size_t(parse_integer(name, 10).value_or(INT64_MAX)));
    }
    const auto at = std::find_if(arguments_.named.begin(), arguments_.named.end(), [&](const auto& n) { return n.first == name; });
    if (at == arguments_.named.end()) invalid("format(): there is no argument '{}'", printable(name));
    return at->second;
  }

  Value lookup(std::string_view path) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    Value value = first(path.substr(0, end));
    path.remove_prefix(end);
    while (!path.empty()) {
      const bool is_item = path[0] == '[';
      const size_t stop = is_item ? path.find(']') : std::min(path.find_first_of(".[", 1), path.size());
      if (stop == path.npos || stop == 1 || (!is_item && path[0] != '.')) invalid("format(): malformed field '{}'", printable(path));
      const std::string_view key = path.substr(1, stop - 1);
      path.remove_prefix(stop + is_item);
      const auto index = key.find_first_not_of("0123456789") == key.npos ? parse_integer(key, 10) : std::nullopt;
      value = !is_item ? get_attribute(runtime_, value, key)
                       : get_item(runtime_, value, index ? Value::integer(*index) : runtime_.string(std::string(key)));
    }
    return value;
  }

  enum class Numbering { kUnknown, kAutomatic, kManual };
  Runtime& runtime_;
  const CallArguments& arguments_;
  const bool escapes_;
  Numbering numbering_ = Numbering::kUnknown;
  size_t next_ = 0;
};

}  // namespace

std::string str_format(Runtime& runtime, const Value& string, const CallArguments& arguments) {
  return Formatter(runtime, arguments, is_markup(string)).format(text_of(string), 1);
}

}  // namespace headrace::jinja
