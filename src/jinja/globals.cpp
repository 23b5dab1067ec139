#include "jinja/globals.h"

#include <algorithm>

#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/operators.h"
#include "jinja/strftime.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

Value range(Runtime& runtime, const Value&, const CallArguments& arguments) {
  if (!arguments.named.empty()) invalid("range() takes no keyword arguments");
  const Parameters p("range", arguments, {"start", "stop", "step"}, 1);
  const int64_t start = p.has(1) ? p.integer_or(0, 0) : 0, stop = p.integer_or(p.has(1) ? 1 : 0, 0), step = p.integer_or(2, 1);
  if (step == 0) invalid("range(): the step must not be zero");
  const uint64_t stride = step < 0 ? 0 - uint64_t(step) : uint64_t(step);
  const bool is_empty = step < 0 ? start <= stop : start >= stop;
  const uint64_t distance = step < 0 ? uint64_t(start) - uint64_t(stop) : uint64_t(stop) - uint64_t(start);
  const uint64_t length = is_empty ? 0 : (distance - 1) / stride + 1;
  if (length > uint64_t{kMaxRange}) invalid("range(): {} items are too many, the sandbox allows {}", length, kMaxRange);
  return Value(runtime.heap.make<RangeObject>(0, start, stop, step, int64_t(length)));
}

// dict(), dict(mapping or pairs, name=value ...)
Ref<DictObject> make_dict(Runtime& runtime, std::string_view function, const CallArguments& arguments) {
  auto dict = runtime.heap.make<DictObject>(0);
  if (arguments.positional.size() > 1) invalid("{}() expected at most 1 argument, got {}", function, arguments.positional.size());
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is(Kind::kDict)) {
      for (const auto& [key, value] : source.as<DictObject>().items()) dict->set(runtime, key, value);
    } else {
      Value item;
      for (const Next next = iterate(runtime, source); next(item);) {
        const std::vector<Value> pair = to_vector(runtime, item);
        if (pair.size() != 2) invalid("{}(): an item has {} values, wanted 2", function, pair.size());
        dict->set(runtime, pair[0], pair[1]);
      }
    }
  }
  for (const auto& [key, value] : arguments.named) dict->set(runtime, key, value);
  return dict;
}

Value dict(Runtime& runtime, const Value&, const CallArguments& arguments) { return Value(make_dict(runtime, "dict", arguments)); }

Value make_namespace(Runtime& runtime, const Value&, const CallArguments& arguments) {
  return Value(runtime.heap.make<NamespaceObject>(0, make_dict(runtime, "namespace", arguments)));
}

class Cycler : public FunctionObject {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}
  void clear() override { items_.clear(); }
  std::string repr() const override { return "<Cycler>"; }
  Value call(Runtime&, CallArguments&) override { invalid("'Cycler' object is not callable: use next()"); }
  std::optional<Value> attribute(Runtime& runtime, std::string_view name) override {
    if (name == "current") return items_[at_];
    static constexpr NativeEntry kNext{"next", [](Runtime&, const Value& self, const CallArguments&) { return self.as<Cycler>().next(); }};
    static constexpr NativeEntry kReset{"reset",
                                        [](Runtime&, const Value& self, const CallArguments&) { return self.as<Cycler>().reset(); }};
    const Value self(Kind::kFunction, Ref<Object>(this));
    if (name == "next") return runtime.bound_function(kNext, self);
    if (name == "reset") return runtime.bound_function(kReset, self);
    return std::nullopt;
  }

 private:
  Value next() {
    Value current = items_[at_];
    at_ = (at_ + 1) % items_.size();
    return current;
  }
  Value reset() {
    at_ = 0;
    return Value::none();
  }
  std::vector<Value> items_;
  size_t at_ = 0;
};

Value cycler(Runtime& runtime, const Value&, const CallArguments& arguments) {
  if (arguments.positional.empty()) invalid("cycler(): at least one item has to be provided");
  if (!arguments.named.empty()) invalid("cycler() takes no keyword arguments");
  auto object = runtime.heap.make<Cycler>(arguments.positional.size() * sizeof(Value), arguments.positional);
  return Value(Kind::kFunction, Ref<Object>(object.get()));
}

// Empty when first called, then the separator.
class Joiner : public FunctionObject {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}
  void clear() override { separator_ = Value(); }
  std::string repr() const override { return "<Joiner>"; }
  Value call(Runtime& runtime, CallArguments& arguments) override {
    expect_no_arguments("joiner", arguments);
    return std::exchange(used_, true) ? separator_ : runtime.string("");
  }

 private:
  Value separator_;
  bool used_ = false;
};

Value joiner(Runtime& runtime, const Value&, const CallArguments& arguments) {
  const Parameters p("joiner", arguments, {"sep"});
  auto object = runtime.heap.make<Joiner>(0, p.has(0) ? p[0] : runtime.string(", "));
  return Value(Kind::kFunction, Ref<Object>(object.get()));
}

Value raise_exception(Runtime& runtime, const Value&, const CallArguments& arguments) {
  const Parameters p("raise_exception", arguments, {"message"}, 1);
  throw Error(ErrorCode::kInvalidArgument, to_text(runtime, p[0]));
}

Value strftime_now(Runtime& runtime, const Value&, const CallArguments& arguments) {
  const Parameters p("strftime_now", arguments, {"format"}, 1);
  return runtime.string(format_time(runtime.now, p.string(0)));
}

Value lipsum(Runtime&, const Value&, const CallArguments&) { invalid("lipsum() is not supported: it has random output"); }

constexpr NativeEntry kGlobals[] = {
    {"range", range},   {"dict", dict},     {"namespace", make_namespace},        {"cycler", cycler},
    {"joiner", joiner}, {"lipsum", lipsum}, {"raise_exception", raise_exception}, {"strftime_now", strftime_now},
};

}  // namespace

const NativeEntry* find_global(std::string_view name) {
  const auto at = std::find_if(std::begin(kGlobals), std::end(kGlobals), [&](const NativeEntry& e) { return e.name == name; });
  return at == std::end(kGlobals) ? nullptr : at;
}

}  // namespace headrace::jinja
