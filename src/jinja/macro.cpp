#include "jinja/macro.h"

#include <algorithm>

#include "core/error.h"

namespace headrace::jinja {
namespace {

class MacroObject : public FunctionObject {
 public:
  MacroObject(Evaluator& evaluator, std::shared_ptr<const ast::Macro> macro, Ref<Scope> scope)
      : evaluator_(evaluator), macro_(std::move(macro)), scope_(std::move(scope)) {}
  void clear() override { scope_ = {}; }

  std::string repr() const override { return macro_->name < 0 ? "<Macro anonymous>" : "<Macro '" + name() + "'>"; }

  std::optional<Value> attribute(Runtime& runtime, std::string_view what) override {
    if (what == "name") return macro_->name < 0 ? Value::none() : runtime.string(name());
    if (what == "caller") return Value::boolean(macro_->uses.caller);
    if (what == "catch_kwargs") return Value::boolean(macro_->uses.kwargs);
    if (what == "catch_varargs") return Value::boolean(macro_->uses.varargs);
    if (what != "arguments") return std::nullopt;
    std::vector<Value> names;
    for (const int id : macro_->signature.names) names.push_back(runtime.string(evaluator_.name(id)));
    return runtime.tuple(std::move(names));
  }

  Value call(Runtime& runtime, CallArguments& arguments) override {
    Ref<Scope> scope = evaluator_.new_scope(scope_, macro_->body);
    const size_t num_given = bind(runtime, arguments, scope);
    bind_specials(runtime, arguments, num_given, scope);
    Text out;
    Frame frame{scope, out};
    evaluator_.run_body(macro_->body.statements, frame);
    return runtime.string(out.take(), runtime.autoescape);
  }

 private:
  std::string name() const { return macro_->name < 0 ? "caller" : evaluator_.name(macro_->name); }

  // Takes the named arguments that are parameters; returns how many positional ones were used.
  size_t bind(Runtime& runtime, CallArguments& arguments, Ref<Scope>& scope) {
    const auto& [names, defaults] = macro_->signature;
    const size_t num_given = std::min(arguments.positional.size(), names.size());
    std::vector<Value> values(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      if (i < num_given) {
        values[i] = arguments.positional[i];
      } else {
        const auto at = std::find_if(arguments.named.begin(), arguments.named.end(),
                                     [&](const auto& named) { return named.first == evaluator_.name(names[i]); });
        if (at == arguments.named.end()) continue;
        values[i] = std::move(at->second);
        arguments.named.erase(at);
      }
      scope->set(names[i], values[i]);
    }
    for (size_t i = num_given; i < names.size(); ++i) {  // in order: a default may use the parameters before it
      if (!values[i].is_missing()) continue;
      const size_t num_required = names.size() - defaults.size();
      Value value = i >= num_required ? evaluator_.evaluate(*defaults[i - num_required], scope)
                                      : runtime.undefined(fmt::format("parameter '{}' was not provided", evaluator_.name(names[i])));
      scope->set(names[i], std::move(value));
    }
    return num_given;
  }

  void bind_specials(Runtime& runtime, CallArguments& arguments, size_t num_given, Ref<Scope>& scope) {
    auto& named = arguments.named;
    if (macro_->uses.caller) {
      const auto at = std::find_if(named.begin(), named.end(), [](const auto& n) { return n.first == "caller"; });
      set(scope, "caller", at == named.end() ? runtime.undefined("No caller defined") : at->second);
      if (at != named.end()) named.erase(at);
    }
    if (macro_->uses.kwargs) {
      auto dict = runtime.heap.make<DictObject>(0);
      for (const auto& [key, value] : named) dict->set(runtime, key, value);
      set(scope, "kwargs", Value(dict));
    } else if (!named.empty()) {
      invalid("macro '{}' takes no keyword argument '{}'", name(), printable(named[0].first));
    }
    if (macro_->uses.varargs) {
      set(scope, "varargs", runtime.tuple({arguments.positional.begin() + long(num_given), arguments.positional.end()}));
    } else if (arguments.positional.size() > num_given) {
      invalid("macro '{}' takes not more than {} arguments, {} were given", name(), num_given, arguments.positional.size());
    }
  }

  void set(Ref<Scope>& scope, std::string_view special, Value value) { scope->set(evaluator_.find_name(special), std::move(value)); }

  Evaluator& evaluator_;
  std::shared_ptr<const ast::Macro> macro_;
  Ref<Scope> scope_;
};

}  // namespace

Value make_macro(Evaluator& evaluator, std::shared_ptr<const ast::Macro> macro, Ref<Scope> scope) {
  auto object = evaluator.runtime().heap.make<MacroObject>(0, evaluator, std::move(macro), std::move(scope));
  return Value(Kind::kFunction, Ref<Object>(object.get()));
}

}  // namespace headrace::jinja
