#include "jinja/string_search.h"

#include <algorithm>

#include "core/error.h"
#include "core/utf8.h"
#include "jinja/arguments.h"
#include "jinja/operators.h"
#include "jinja/string_methods.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

// The parts of a string; more than the heap could hold as strings are refused before they take memory themselves.
class Parts {
 public:
  void add(std::string_view part) {
    if (parts_.size() >= kMaxMemoryBytes / sizeof(StringObject)) invalid("a string would be split into more than {} parts", parts_.size());
    parts_.push_back(part);
  }
  void reverse() { std::reverse(parts_.begin(), parts_.end()); }
  const std::vector<std::string_view>& all() const { return parts_; }

 private:
  std::vector<std::string_view> parts_;
};

Value strings(Runtime& runtime, const Value& self, const std::vector<std::string_view>& parts) {
  std::vector<Value> out;
  out.reserve(parts.size());
  for (const std::string_view part : parts) out.push_back(runtime.string(std::string(part), is_markup(self)));
  return runtime.list(std::move(out));
}

struct Separator {
  std::string_view text;  // empty: runs of white space
  int64_t most;           // splits; < 0: no bound
};

Separator separator_of(Runtime& runtime, const Parameters& p, const Value& self) {
  if (!p.is_set(0)) return {{}, p.integer_or(1, -1)};
  if (p.string(0).empty()) invalid("split(): empty separator");
  runtime.step_search(text_of(self), p.string(0));
  return {p.string(0), p.integer_or(1, -1)};
}

Value split(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("split", arguments, {"sep", "maxsplit"});
  auto [separator, most] = separator_of(runtime, p, self);
  std::string_view rest = text_of(self);
  Parts parts;
  if (!separator.empty()) {
    for (size_t at; most != 0 && (at = rest.find(separator)) != rest.npos; --most) {
      parts.add(rest.substr(0, at));
      rest.remove_prefix(at + separator.size());
    }
    parts.add(rest);
    return strings(runtime, self, parts.all());
  }
  for (rest = strip(rest, {.right = false}); !rest.empty(); rest = strip(rest, {.right = false}), --most) {
    if (most == 0) {
      parts.add(rest);
      break;
    }
    size_t end = 0;
    while (end < rest.size() && !is_space(decode_utf8(rest, end).codepoint)) end += size_t(decode_utf8(rest, end).length);
    parts.add(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return strings(runtime, self, parts.all());
}

Value rsplit(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("rsplit", arguments, {"sep", "maxsplit"});
  auto [separator, most] = separator_of(runtime, p, self);
  std::string_view rest = text_of(self);
  Parts parts;
  if (!separator.empty()) {
    for (size_t at; most != 0 && (at = rest.rfind(separator)) != rest.npos; --most) {
      parts.add(rest.substr(at + separator.size()));
      rest = rest.substr(0, at);
    }
    parts.add(rest);
  } else {
    for (rest = strip(rest, {.left = false}); !rest.empty(); rest = strip(rest, {.left = false}), --most) {
      std::string_view head = rest;
      while (most != 0 && !head.empty()) {
        size_t last = head.size() - 1;
        while (last > 0 && (static_cast<unsigned char>(head[last]) & 0xc0) == 0x80) --last;
        if (is_space(decode_utf8(head, last).codepoint)) break;
        head = head.substr(0, last);
      }
      if (most == 0) head = {};
      parts.add(rest.substr(head.size()));
      rest = head;
    }
  }
  parts.reverse();
  return strings(runtime, self, parts.all());
}

Value splitlines(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("splitlines", arguments, {"keepends"});
  return strings(runtime, self, split_lines(text_of(self), p.truth_or(0, false)));
}

template <bool FromRight>
Value partition(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("partition", arguments, {"sep"}, 1);
  const std::string_view text = text_of(self), separator = p.string(0);
  if (separator.empty()) invalid("partition(): empty separator");
  runtime.step_search(text, separator);
  const size_t at = FromRight ? text.rfind(separator) : text.find(separator);
  const bool markup = is_markup(self);
  const auto part = [&](std::string_view s) { return runtime.string(std::string(s), markup); };
  if (at == text.npos) return FromRight ? runtime.tuple({part(""), part(""), part(text)}) : runtime.tuple({part(text), part(""), part("")});
  return runtime.tuple({part(text.substr(0, at)), part(separator), part(text.substr(at + separator.size()))});
}

// The part of a string that start and end arguments leave: its bytes, and the code points before it.
struct Window {
  std::string_view text;
  int64_t start;
  bool is_valid;  // false when it starts after its end
};

Window window(const Parameters& p, const Value& self) {
  auto& string = self.as<StringObject>();
  const int64_t size = length(string);
  const auto bound = [&](size_t i, int64_t fallback) {
    const int64_t at = p.is_set(i) ? to_index(p[i], "index") : fallback;
    return at < 0 ? std::max<int64_t>(0, at + size) : at;
  };
  const int64_t start = bound(1, 0), stop = std::min(bound(2, size), size);
  if (start > stop) return {{}, 0, false};
  const size_t from = byte_offset(string, start), to = byte_offset(string, stop);
  return {std::string_view(string.text).substr(from, to - from), start, true};
}

struct Search {
  bool from_right;
  bool must_find;
};

template <Search search>
Value find(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p(search.must_find ? "index" : "find", arguments, {"sub", "start", "end"}, 1);
  const std::string& wanted = p.string(0);
  const Window w = window(p, self);
  runtime.step_search(w.text, wanted);
  const size_t at = !w.is_valid ? w.text.npos : search.from_right ? w.text.rfind(wanted) : w.text.find(wanted);
  if (at != w.text.npos) return Value::integer(w.start + count_codepoints(w.text.substr(0, at)));
  if (search.must_find) invalid("index(): substring not found");
  return Value::integer(-1);
}

Value count(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("count", arguments, {"sub", "start", "end"}, 1);
  const std::string& wanted = p.string(0);
  const Window w = window(p, self);
  runtime.step_search(w.text, wanted);
  if (!w.is_valid) return Value::integer(0);
  if (wanted.empty()) return Value::integer(count_codepoints(w.text) + 1);
  int64_t found = 0;
  for (size_t at = 0; (at = w.text.find(wanted, at)) != w.text.npos; at += wanted.size()) ++found;
  return Value::integer(found);
}

template <bool AtEnd>
Value starts_or_ends(Runtime&, const Value& self, const CallArguments& arguments) {
  constexpr std::string_view kName = AtEnd ? "endswith" : "startswith";
  const Parameters p(kName, arguments, {AtEnd ? "suffix" : "prefix", "start", "end"}, 1);
  const Window w = window(p, self);
  const auto matches = [&](const Value& wanted) {
    if (!wanted.is_string()) invalid("{}(): wanted str or a tuple of str, found {}", kName, type_name(wanted));
    return w.is_valid && (AtEnd ? w.text.ends_with(text_of(wanted)) : w.text.starts_with(text_of(wanted)));
  };
  require_defined(p[0]);
  if (!p[0].is(Kind::kTuple)) return Value::boolean(matches(p[0]));
  return Value::boolean(std::any_of(items_of(p[0]).begin(), items_of(p[0]).end(), matches));
}

constexpr NativeEntry kMethods[] = {
    {"split", split},
    {"rsplit", rsplit},
    {"splitlines", splitlines},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"find", find<Search{false, false}>},
    {"rfind", find<Search{true, false}>},
    {"index", find<Search{false, true}>},
    {"rindex", find<Search{true, true}>},
    {"count", count},
    {"startswith", starts_or_ends<false>},
    {"endswith", starts_or_ends<true>},
};

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  Parts lines;
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    const Utf8 c = decode_utf8(text, i);
    size_t next = i + size_t(c.length);
    if (is_line_break(c.codepoint)) {
      if (c.codepoint == '\r' && next < text.size() && text[next] == '\n') ++next;
      lines.add(text.substr(start, (keep_ends ? next : i) - start));
      start = next;
    }
    i = next;
  }
  if (start < text.size()) lines.add(text.substr(start));
  return lines.all();
}

std::span<const NativeEntry> search_methods() { return kMethods; }

}  // namespace headrace::jinja
