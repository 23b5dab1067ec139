#include "jinja/runtime.h"

#include "core/error.h"

namespace headrace::jinja {
namespace {

// What a step is worth: of text read character by character, copied, and compared in a search.
constexpr size_t kBytesReadPerStep = 8;
constexpr size_t kBytesCopiedPerStep = 256;
constexpr size_t kComparesPerStep = 4096;

}  // namespace

void Runtime::step(size_t amount) {
  if (amount > size_t(max_steps_ - steps_)) invalid("the template runs for more than {} steps", max_steps_);
  steps_ += int64_t(amount);
}

void Runtime::step_bytes(size_t bytes) { step(bytes / kBytesReadPerStep); }

void Runtime::step_through(const Value& value) {
  if (value.is_string()) step_bytes(text_of(value).size());
}

void Runtime::step_search(std::string_view text, std::string_view needle) {
  step(text.size() / kBytesCopiedPerStep + text.size() * std::min(needle.size(), text.size()) / kComparesPerStep);
}

void Runtime::Nested::too_deep(int& depth) {
  --depth;
  invalid("more than {} nested evaluations: is there a macro that calls itself without end, or a value inside itself?", kMaxDepth);
}

Value Runtime::string(std::string text, bool is_markup) {
  if (text.size() > kMaxTextBytes) invalid("a string would be longer than {} MiB", kMaxTextBytes >> 20);
  const size_t payload = text.capacity();
  step(text.size() / kBytesCopiedPerStep);
  return Value(heap.make<StringObject>(payload, std::move(text), is_markup));
}

Value Runtime::list(std::vector<Value> items) {
  step(items.size());
  const size_t payload = items.capacity() * sizeof(Value);
  return Value(heap.make<ListObject>(payload, std::move(items)));
}

Value Runtime::tuple(std::vector<Value> items) {
  step(items.size());
  const size_t payload = items.capacity() * sizeof(Value);
  return Value(heap.make<TupleObject>(payload, std::move(items)));
}

Value Runtime::pair(Value first, Value second) {
  std::vector<Value> items;
  items.reserve(2);
  items.push_back(std::move(first));
  items.push_back(std::move(second));
  return tuple(std::move(items));
}

Value Runtime::generator(Next next) { return Value(heap.make<GeneratorObject>(64, std::move(next))); }

Value Runtime::undefined(std::string message) {
  const size_t payload = message.capacity();
  return Value(heap.make<UndefinedObject>(payload, std::move(message)));
}

Value Runtime::bound_function(const NativeEntry& entry, Value self) {
  return Value(Kind::kFunction, Ref<Object>(heap.make<NativeFunctionObject>(0, entry.name, entry.function, std::move(self)).get()));
}

Value NativeFunctionObject::call(Runtime& runtime, CallArguments& arguments) {
  runtime.step_through(self);
  for (const Value& argument : arguments.positional) runtime.step_through(argument);
  return function(runtime, self, arguments);
}

Text& Text::repeat(size_t count, std::string_view text) {
  if (text.empty()) return *this;
  if (count > kMaxTextBytes / text.size()) too_long();
  grow(count * text.size());
  for (size_t i = 0; i < count; ++i) text_ += text;
  return *this;
}

void Text::too_long() { invalid("a string would be longer than {} MiB", kMaxTextBytes >> 20); }

}  // namespace headrace::jinja
