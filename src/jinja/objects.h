// The objects behind values of the kinds from kString on (and kUndefined, whose object may be absent).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/value.h"

namespace headrace::jinja {

class Runtime;

// Writes the next value; false at the end, when what was written means nothing.
using Next = std::function<bool(Value&)>;

struct CallArguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// Filters, tests, methods and global functions. `self` is the filtered or tested value, or a method's object.
using NativeFunction = Value (*)(Runtime& runtime, const Value& self, const CallArguments& arguments);

struct NativeEntry {
  std::string_view name;
  NativeFunction function;
};

struct UndefinedObject : Object {
  static constexpr Kind kKind = Kind::kUndefined;
  explicit UndefinedObject(std::string message) : message(std::move(message)) {}
  std::string message;  // of the error that using it raises
};

struct StringObject : Object {
  static constexpr Kind kKind = Kind::kString;
  StringObject(std::string text, bool is_markup) : text(std::move(text)), is_markup(is_markup) {}
  const std::string text;       // valid UTF-8
  const bool is_markup;         // made by `safe` or `escape`: what is added to it gets escaped
  int64_t num_codepoints = -1;  // -1 until asked for: see length()
};

struct ListObject : Object {
  static constexpr Kind kKind = Kind::kList;
  explicit ListObject(std::vector<Value> items) : items(std::move(items)) {}
  void clear() override { items.clear(); }
  std::vector<Value> items;
};

struct TupleObject : ListObject {
  static constexpr Kind kKind = Kind::kTuple;
  explicit TupleObject(std::vector<Value> items, bool is_group = false) : ListObject(std::move(items)), is_group(is_group) {}
  bool is_group;  // groupby's (grouper, list), which can be asked by name
};

// Keeps the order of insertion.
class DictObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kDict;
  void clear() override { items_.clear(); }
  const std::vector<std::pair<Value, Value>>& items() const { return items_; }
  // nullptr when there is none. Throws for a key that cannot be hashed.
  const Value* find(Runtime& runtime, const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Runtime& runtime, const Value& key, Value value);
  void set(Runtime& runtime, std::string_view key, Value value);

 private:
  template <typename Matches>
  int64_t locate(size_t hash, Matches matches) const;
  void append(Runtime& runtime, size_t hash, const Value& key, Value value);
  void index_all();

  struct Slot {
    size_t hash;
    int64_t item;  // -1: free
  };
  std::vector<std::pair<Value, Value>> items_;
  std::vector<size_t> hashes_;  // of items_
  std::vector<Slot> slots_;     // open addressing; empty while the dict is small
};

struct DictViewObject : Object {
  enum Part { kKeys, kValues, kItems };
  static constexpr Kind kKind = Kind::kDictView;
  DictViewObject(Value dict, Part part) : dict(std::move(dict)), part(part) {}
  void clear() override { dict = Value(); }
  Value dict;
  Part part;
};

struct RangeObject : Object {
  static constexpr Kind kKind = Kind::kRange;
  RangeObject(int64_t start, int64_t stop, int64_t step, int64_t length) : start(start), stop(stop), step(step), length(length) {}
  // Wraps where the limit of a range would not fit.
  int64_t at(int64_t i) const { return int64_t(uint64_t(start) + uint64_t(i) * uint64_t(step)); }
  int64_t start, stop, step, length;
};

// Iterates once.
struct GeneratorObject : Object {
  static constexpr Kind kKind = Kind::kGenerator;
  explicit GeneratorObject(Next next) : next(std::move(next)) {}
  void clear() override { next = nullptr; }
  Next next;
};

struct NamespaceObject : Object {
  static constexpr Kind kKind = Kind::kNamespace;
  explicit NamespaceObject(Ref<DictObject> attributes) : attributes(std::move(attributes)) {}
  void clear() override { attributes = {}; }
  Ref<DictObject> attributes;
};

struct FunctionObject : Object {
  static constexpr Kind kKind = Kind::kFunction;
  virtual Value call(Runtime& runtime, CallArguments& arguments) = 0;
  virtual std::optional<Value> attribute(Runtime&, std::string_view) { return std::nullopt; }
  virtual std::string repr() const = 0;
};

struct NativeFunctionObject : FunctionObject {
  NativeFunctionObject(std::string_view name, NativeFunction function, Value self)
      : name(name), function(function), self(std::move(self)) {}
  void clear() override { self = Value(); }
  Value call(Runtime& runtime, CallArguments& arguments) override;
  std::string repr() const override { return "<built-in function " + std::string(name) + ">"; }
  std::string_view name;
  NativeFunction function;
  Value self;
};

}  // namespace headrace::jinja
