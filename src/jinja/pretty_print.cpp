#include "jinja/pretty_print.h"

#include <algorithm>

#include "jinja/operators.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

constexpr int64_t kWidth = 80;

class PrettyPrinter {
 public:
  explicit PrettyPrinter(Runtime& runtime) : runtime_(runtime) {}
  std::string take() { return out_.take(); }

  // `column`: where it starts; `allowance`: what must follow on its last line.
  void write(const Value& value, int64_t column, int64_t allowance) {
    const Runtime::Nested nested(runtime_);
    const std::string line = sorted_repr(value);
    if (count_codepoints(line) <= kWidth - column - allowance || !splits(value)) return void(out_.add(line));
    if (value.is(Kind::kDict)) return write_dict(value.as<DictObject>(), column, allowance);
    const auto& items = items_of(value);
    out_.add(value.is(Kind::kList) ? "[" : "(");
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) new_line(column + 1);
      const bool is_last = i + 1 == items.size();
      write(items[i], column + 1, is_last ? allowance + 1 + (value.is(Kind::kTuple) && i == 0) : 1);
      if (!is_last) out_.add(",");
    }
    out_.add(value.is(Kind::kList) ? "]" : items.size() == 1 ? ",)" : ")");
  }

 private:
  static bool splits(const Value& value) { return (value.is(Kind::kDict) || value.is_sequence()) && length_of(value) > 0; }

  void new_line(int64_t column) { out_.add("\n").add(size_t(column), ' '); }

  std::vector<std::pair<Value, Value>> sorted_items(const DictObject& dict) {
    auto items = dict.items();
    const auto comparable = [](const Value& a, const Value& b) {
      return (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
    };
    std::stable_sort(items.begin(), items.end(), [&](const auto& a, const auto& b) {
      return comparable(a.first, b.first) ? less(runtime_, a.first, b.first) : type_name(a.first) < type_name(b.first);
    });
    return items;
  }

  std::string sorted_repr(const Value& value) {
    runtime_.step();
    const Runtime::Nested nested(runtime_);
    if (!splits(value)) return repr(runtime_, value);
    Text out;
    bool first = true;
    if (value.is(Kind::kDict)) {
      out.add("{");
      for (const auto& [key, item] : sorted_items(value.as<DictObject>()))
        out.add(std::exchange(first, false) ? "" : ", ").add(sorted_repr(key)).add(": ").add(sorted_repr(item));
      return out.add("}").take();
    }
    out.add(value.is(Kind::kList) ? "[" : "(");
    for (const Value& item : items_of(value)) out.add(std::exchange(first, false) ? "" : ", ").add(sorted_repr(item));
    return out.add(value.is(Kind::kList) ? "]" : items_of(value).size() == 1 ? ",)" : ")").take();
  }

  void write_dict(const DictObject& dict, int64_t column, int64_t allowance) {
    const auto items = sorted_items(dict);
    out_.add("{");
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) new_line(column + 1);
      const bool is_last = i + 1 == items.size();
      const std::string key = sorted_repr(items[i].first);
      out_.add(key).add(": ");
      write(items[i].second, column + count_codepoints(key) + 3, is_last ? allowance + 1 : 1);
      if (!is_last) out_.add(",");
    }
    out_.add("}");
  }

  Runtime& runtime_;
  Text out_;
};

}  // namespace

std::string pretty_print(Runtime& runtime, const Value& value) {
  PrettyPrinter printer(runtime);
  printer.write(value, 0, 0);
  return printer.take();
}

}  // namespace headrace::jinja
