// What filters, tests, methods and operators need from one rendering: its heap, its limits, its settings.
#pragma once

#include <algorithm>
#include <ctime>

#include "jinja/objects.h"

namespace headrace::jinja {

// Bounds against hostile templates.
inline constexpr size_t kMaxMemoryBytes = 256u << 20;
inline constexpr size_t kMaxTextBytes = 64u << 20;  // of the output and of any one string
inline constexpr int kMaxDepth = 700;               // nested evaluations, calls and containers
inline constexpr int64_t kMaxRange = 100'000;       // as the sandbox of jinja2

class Runtime {
 public:
  Runtime(const std::tm& now, int64_t max_steps) : now(now), max_steps_(std::max<int64_t>(0, max_steps)) {}

  // Counts work; throws Error past the limit.
  void step(size_t amount = 1);
  // What reading so many bytes costs; what reading `value` costs when it is a string; what looking for `needle` in `text` costs at worst.
  void step_bytes(size_t bytes);
  void step_through(const Value& value);
  void step_search(std::string_view text, std::string_view needle);
  // Alive while one level deeper; throws Error past kMaxDepth.
  class Nested {
   public:
    explicit Nested(Runtime& runtime) : depth_(runtime.depth_) {
      if (++depth_ > kMaxDepth) too_deep(depth_);
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    ~Nested() { --depth_; }

   private:
    [[noreturn]] static void too_deep(int& depth);
    int& depth_;
  };

  Value string(std::string text, bool is_markup = false);
  Value list(std::vector<Value> items);
  Value tuple(std::vector<Value> items);
  Value pair(Value first, Value second);
  Value generator(Next next);
  Value undefined(std::string message);
  Value bound_function(const NativeEntry& entry, Value self);

  Heap heap{kMaxMemoryBytes};
  const std::tm now;
  bool autoescape = false;
  int line = 1;  // being evaluated

 private:
  const int64_t max_steps_;
  int64_t steps_ = 0;
  int depth_ = 0;
};

// Builds a string that may not grow past kMaxTextBytes.
class Text {
 public:
  Text& add(std::string_view text) {
    grow(text.size());
    text_ += text;
    return *this;
  }
  Text& add(size_t count, char c) {
    grow(count);
    text_.append(count, c);
    return *this;
  }
  // `text`, `count` times.
  Text& repeat(size_t count, std::string_view text);
  size_t size() const { return text_.size(); }
  const std::string& view() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void grow(size_t bytes) const {
    if (bytes > kMaxTextBytes - text_.size()) too_long();
  }
  [[noreturn]] static void too_long();
  std::string text_;
};

inline const std::string& text_of(const Value& string) { return string.as<StringObject>().text; }
inline const std::vector<Value>& items_of(const Value& sequence) { return sequence.as<ListObject>().items; }
inline bool is_markup(const Value& value) { return value.is_string() && value.as<StringObject>().is_markup; }

}  // namespace headrace::jinja
