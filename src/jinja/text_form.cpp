#include "jinja/text_form.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/utf8.h"
#include "jinja/loop.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

void append_items(Runtime& runtime, Text& out, const std::vector<Value>& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out.add(", ");
    append_repr(runtime, out, items[i]);
  }
}

void append_dict(Runtime& runtime, Text& out, const DictObject& dict) {
  out.add("{");
  bool first = true;
  for (const auto& [key, value] : dict.items()) {
    if (!std::exchange(first, false)) out.add(", ");
    append_repr(runtime, out, key);
    out.add(": ");
    append_repr(runtime, out, value);
  }
  out.add("}");
}

void append_view(Runtime& runtime, Text& out, const DictViewObject& view) {
  constexpr std::string_view kNames[] = {"dict_keys([", "dict_values([", "dict_items(["};
  out.add(kNames[view.part]);
  bool first = true;
  for (const auto& [key, value] : view.dict.as<DictObject>().items()) {
    if (!std::exchange(first, false)) out.add(", ");
    if (view.part == DictViewObject::kItems) out.add("(");
    if (view.part != DictViewObject::kValues) append_repr(runtime, out, key);
    if (view.part == DictViewObject::kItems) out.add(", ");
    if (view.part != DictViewObject::kKeys) append_repr(runtime, out, value);
    if (view.part == DictViewObject::kItems) out.add(")");
  }
  out.add("])");
}

}  // namespace

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing: return "missing";
    case Kind::kUndefined: return "Undefined";
    case Kind::kNone: return "NoneType";
    case Kind::kBool: return "bool";
    case Kind::kInt: return "int";
    case Kind::kFloat: return "float";
    case Kind::kString: return is_markup(value) ? "Markup" : "str";
    case Kind::kList: return "list";
    case Kind::kTuple: return "tuple";
    case Kind::kDict: return "dict";
    case Kind::kDictView: {
      constexpr std::string_view kNames[] = {"dict_keys", "dict_values", "dict_items"};
      return kNames[value.as<DictViewObject>().part];
    }
    case Kind::kRange: return "range";
    case Kind::kGenerator: return "generator";
    case Kind::kNamespace: return "Namespace";
    case Kind::kFunction: return "function";
    case Kind::kLoop: return "LoopContext";
  }
  return "object";
}

std::string repr(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  std::string_view text(buffer, size_t(end - buffer));
  std::string out;
  if (text[0] == '-') out += '-', text.remove_prefix(1);
  const size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out.append(".").append(digits, 1);
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return out + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  if (digits.size() <= size_t(exponent) + 1) return out + digits + std::string(size_t(exponent) + 1 - digits.size(), '0') + ".0";
  return out + digits.substr(0, size_t(exponent) + 1) + "." + digits.substr(size_t(exponent) + 1);
}

std::string repr(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t i = 0; i < text.size();) {
    const Utf8 c = decode_utf8(text, i);
    const uint32_t p = c.codepoint;
    if (p == uint32_t(quote) || p == '\\') {
      out += '\\', out += char(p);
    } else if (p == '\n' || p == '\r' || p == '\t') {
      out += p == '\n' ? "\\n" : p == '\r' ? "\\r" : "\\t";
    } else if (p < 0x7f ? p >= 0x20 : is_printable(p)) {
      out.append(text.substr(i, size_t(c.length)));
    } else {
      out += p < 0x100 ? fmt::format("\\x{:02x}", p) : p < 0x10000 ? fmt::format("\\u{:04x}", p) : fmt::format("\\U{:08x}", p);
    }
    i += size_t(c.length);
  }
  return out += quote;
}

void append_repr(Runtime& runtime, Text& out, const Value& value) {
  runtime.step();
  const Runtime::Nested nested(runtime);
  switch (value.kind()) {
    case Kind::kMissing: return void(out.add("missing"));
    case Kind::kUndefined: return void(out.add("Undefined"));
    case Kind::kNone: return void(out.add("None"));
    case Kind::kBool: return void(out.add(value.as_bool() ? "True" : "False"));
    case Kind::kInt: return void(out.add(fmt::format_int(value.as_int()).c_str()));
    case Kind::kFloat: return void(out.add(repr(value.as_float())));
    case Kind::kString:
      runtime.step_through(value);
      if (!is_markup(value)) return void(out.add(repr(text_of(value))));
      return void(out.add("Markup(").add(repr(text_of(value))).add(")"));
    case Kind::kList:
      out.add("[");
      append_items(runtime, out, items_of(value));
      return void(out.add("]"));
    case Kind::kTuple:
      out.add("(");
      append_items(runtime, out, items_of(value));
      return void(out.add(items_of(value).size() == 1 ? ",)" : ")"));
    case Kind::kDict: return append_dict(runtime, out, value.as<DictObject>());
    case Kind::kDictView: return append_view(runtime, out, value.as<DictViewObject>());
    case Kind::kRange: {
      const auto& range = value.as<RangeObject>();
      out.add(fmt::format("range({}, {}", range.start, range.stop));
      return void(out.add(range.step == 1 ? ")" : fmt::format(", {})", range.step)));
    }
    case Kind::kGenerator: return void(out.add("<generator object>"));
    case Kind::kNamespace:
      out.add("<Namespace ");
      append_dict(runtime, out, *value.as<NamespaceObject>().attributes);
      return void(out.add(">"));
    case Kind::kFunction: return void(out.add(value.as<FunctionObject>().repr()));
    case Kind::kLoop: {
      auto& loop = value.as<LoopObject>();
      return void(out.add(fmt::format("<LoopContext {}/{}>", loop.index0() + 1, loop.length())));
    }
  }
}

void append_text(Runtime& runtime, Text& out, const Value& value) {
  if (value.is_string()) {
    out.add(text_of(value));
  } else if (!value.is_undefined()) {
    append_repr(runtime, out, value);
  }
}

std::string to_text(Runtime& runtime, const Value& value) {
  Text out;
  append_text(runtime, out, value);
  return out.take();
}

std::string repr(Runtime& runtime, const Value& value) {
  Text out;
  append_repr(runtime, out, value);
  return out.take();
}

std::string escape_html(std::string_view text) {
  Text out;
  for (const char c : text) {
    switch (c) {
      case '&': out.add("&amp;"); break;
      case '<': out.add("&lt;"); break;
      case '>': out.add("&gt;"); break;
      case '"': out.add("&#34;"); break;
      case '\'': out.add("&#39;"); break;
      default: out.add(1, c);
    }
  }
  return out.take();
}

}  // namespace headrace::jinja
