#include "jinja/json_value.h"

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/utf8.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

class Writer {
 public:
  Writer(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}
  std::string take() { return out_.take(); }

  void write(const Value& value) {
    runtime_.step();
    const Runtime::Nested nested(runtime_);
    switch (value.kind()) {
      case Kind::kNone: return void(out_.add("null"));
      case Kind::kBool: return void(out_.add(value.as_bool() ? "true" : "false"));
      case Kind::kInt: return void(out_.add(fmt::format_int(value.as_int()).c_str()));
      case Kind::kFloat: return void(out_.add(number(value.as_float())));
      case Kind::kString: return write_string(text_of(value));
      case Kind::kList:
      case Kind::kTuple: return write_list(items_of(value));
      case Kind::kDict: return write_dict(value.as<DictObject>());
      default: invalid("tojson: object of type {} is not JSON serializable", type_name(value));
    }
  }

 private:
  static std::string number(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    return repr(d);
  }

  void new_line() {
    if (!style_.indent) return;
    out_.add("\n").repeat(size_t(level_), *style_.indent);
  }

  void write_list(const std::vector<Value>& items) {
    if (items.empty()) return void(out_.add("[]"));
    out_.add("[");
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out_.add(style_.item_separator);
      new_line();
      write(items[i]);
    }
    --level_;
    new_line();
    out_.add("]");
  }

  std::string key_text(const Value& key) {
    switch (key.kind()) {
      case Kind::kString: return text_of(key);
      case Kind::kNone: return "null";
      case Kind::kBool: return key.as_bool() ? "true" : "false";
      case Kind::kInt: return std::to_string(key.as_int());
      case Kind::kFloat: return number(key.as_float());
      default: invalid("tojson: keys must be str, int, float, bool or None, not {}", type_name(key));
    }
  }

  void write_dict(const DictObject& dict) {
    if (dict.items().empty()) return void(out_.add("{}"));
    std::vector<std::pair<Value, Value>> items = dict.items();
    if (style_.sort_keys)
      std::stable_sort(items.begin(), items.end(), [this](const auto& a, const auto& b) { return less(runtime_, a.first, b.first); });
    out_.add("{");
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out_.add(style_.item_separator);
      new_line();
      write_string(key_text(items[i].first));
      out_.add(style_.key_separator);
      write(items[i].second);
    }
    --level_;
    new_line();
    out_.add("}");
  }

  void write_string(std::string_view text) {
    runtime_.step_bytes(text.size());
    out_.add("\"");
    for (size_t i = 0; i < text.size();) {
      const Utf8 c = decode_utf8(text, i);
      write_character(c.codepoint, text.substr(i, size_t(c.length)));
      i += size_t(c.length);
    }
    out_.add("\"");
  }

  void write_character(uint32_t c, std::string_view bytes) {
    switch (c) {
      case '"': return void(out_.add("\\\""));
      case '\\': return void(out_.add("\\\\"));
      case '\n': return void(out_.add("\\n"));
      case '\r': return void(out_.add("\\r"));
      case '\t': return void(out_.add("\\t"));
      case '\f': return void(out_.add("\\f"));
      case '\b': return void(out_.add("\\b"));
      default: break;
    }
    if (c >= 0x20 && (c < 0x7f || !style_.ensure_ascii)) return void(out_.add(bytes));
    if (c == 0x7f) return void(out_.add(bytes));
    if (c < 0x10000) return void(out_.add(fmt::format("\\u{:04x}", c)));
    out_.add(fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff)));
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  Text out_;
  int level_ = 0;
};

}  // namespace

Value from_json(Runtime& runtime, const OrderedJson& json) {
  runtime.step();
  const Runtime::Nested nested(runtime);
  switch (json.type()) {
    case OrderedJson::value_t::boolean: return Value::boolean(json.get<bool>());
    case OrderedJson::value_t::number_integer: return Value::integer(json.get<int64_t>());
    case OrderedJson::value_t::number_unsigned: {
      const auto number = json.get<uint64_t>();
      return number > uint64_t{INT64_MAX} ? Value::real(double(number)) : Value::integer(int64_t(number));
    }
    case OrderedJson::value_t::number_float: return Value::real(json.get<double>());
    case OrderedJson::value_t::string: {
      const auto& text = json.get_ref<const std::string&>();
      return runtime.string(is_valid_utf8(text) ? text : replace_invalid_utf8(text));
    }
    case OrderedJson::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const auto& item : json) items.push_back(from_json(runtime, item));
      return runtime.list(std::move(items));
    }
    case OrderedJson::value_t::object: {
      auto dict = runtime.heap.make<DictObject>(0);
      for (const auto& [key, value] : json.items())
        dict->set(runtime, is_valid_utf8(key) ? key : replace_invalid_utf8(key), from_json(runtime, value));
      return Value(dict);
    }
    default: return Value::none();
  }
}

std::string to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  Writer writer(runtime, style);
  writer.write(value);
  return writer.take();
}

}  // namespace headrace::jinja
