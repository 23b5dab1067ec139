// Expressions.
#include "jinja/evaluator.h"

#include <algorithm>

#include "core/json.h"
#include "jinja/attributes.h"
#include "jinja/globals.h"
#include "jinja/json_value.h"
#include "jinja/text_form.h"

namespace headrace::jinja {

using namespace ast;

Evaluator::Evaluator(Runtime& runtime, const Tree& tree, const OrderedJson& context)
    : runtime_(runtime), tree_(tree), top_(new_scope({}, tree.body)), context_(tree.names.size()), constants_(tree.strings.size()) {
  for (size_t i = 0; i < tree.names.size(); ++i) {
    const auto at = context.find(tree.names[i]);
    if (at != context.end()) {
      context_[i] = from_json(runtime, *at);
    } else if (const NativeEntry* function = find_global(tree.names[i])) {
      context_[i] = runtime.bound_function(*function, Value());
    }
    if (tree.names[i] == "loop") loop_name_ = int(i);
  }
}

int Evaluator::find_name(std::string_view name) const {
  return int(std::find(tree_.names.begin(), tree_.names.end(), name) - tree_.names.begin());
}

Ref<Scope> Evaluator::new_scope(const Ref<Scope>& parent, const ScopedBody& body) {
  auto scope = runtime_.heap.make<Scope>(64, parent);
  scope->reset(body.unset);
  return scope;
}

Value Evaluator::lookup(int id, const Ref<Scope>& scope) {
  const Value* set = scope->find(id);
  const Value& value = set ? *set : context_[size_t(id)];
  return value.is_missing() ? runtime_.undefined(fmt::format("'{}' is undefined", printable(name(id)))) : value;
}

Value Evaluator::constant(int index) {
  Value& value = constants_[size_t(index)];
  if (value.is_missing()) value = runtime_.string(tree_.strings[size_t(index)]);
  return value;
}

struct Evaluator::ExpressionVisitor {
  Evaluator& self;
  const Ref<Scope>& scope;
  int line;

  Runtime& runtime() const { return self.runtime_; }
  Value value(const ExpressionPtr& e) const { return self.evaluate(*e, scope); }
  Value value_or_missing(const ExpressionPtr& e) const { return e ? value(e) : Value(); }
  std::vector<Value> values(const std::vector<ExpressionPtr>& list) const {
    std::vector<Value> out;
    out.reserve(list.size());
    for (const auto& e : list) out.push_back(value(e));
    return out;
  }

  Value operator()(const Literal& e) const {
    if (const auto* b = std::get_if<bool>(&e.value)) return Value::boolean(*b);
    if (const auto* i = std::get_if<int64_t>(&e.value)) return Value::integer(*i);
    if (const auto* d = std::get_if<double>(&e.value)) return Value::real(*d);
    return Value::none();
  }
  Value operator()(const StringLiteral& e) const { return self.constant(e.index); }
  Value operator()(const Name& e) const { return self.lookup(e.id, scope); }
  Value operator()(const Sequence& e) const { return e.is_tuple ? runtime().tuple(values(e.items)) : runtime().list(values(e.items)); }
  Value operator()(const Dictionary& e) const {
    auto dict = runtime().heap.make<DictObject>(0);
    for (const auto& [key, item] : e.items) {
      const Value k = value(key);
      dict->set(runtime(), k, value(item));
    }
    return Value(dict);
  }
  Value operator()(const Attribute& e) const { return get_attribute(runtime(), value(e.object), e.name); }
  Value operator()(const Item& e) const {
    const Value object = value(e.object);
    return get_item(runtime(), object, value(e.key));
  }
  Value operator()(const Slice& e) const {
    const Value object = value(e.object), start = value_or_missing(e.start), stop = value_or_missing(e.stop),
                step = value_or_missing(e.step);
    return slice(runtime(), object, start, stop, step);
  }
  Value operator()(const Call& e) const { return self.call_function(e, line, scope, nullptr); }
  Value operator()(const Filter& e) const { return self.apply_filter(e, line, scope, nullptr); }
  Value operator()(const Test& e) const {
    const Value operand = value(e.operand);
    if (!e.function) invalid("there is no test named '{}'", printable(e.name));
    const CallArguments arguments = self.evaluate_arguments(e.arguments, scope);
    runtime().line = line;
    runtime().step_through(operand);
    return e.function(runtime(), operand, arguments);
  }
  Value operator()(const Unary& e) const {
    const Value operand = value(e.operand);
    if (e.op == UnaryOperator::kNot) return Value::boolean(!truth(operand));
    return e.op == UnaryOperator::kNegate ? negate(runtime(), operand) : plus(runtime(), operand);
  }
  Value operator()(const Binary& e) const {
    const Value left = value(e.left), right = value(e.right);
    return calculate(runtime(), e.op, left, right);
  }
  Value operator()(const Logical& e) const {
    Value left = value(e.left);
    return truth(left) == e.is_or ? left : value(e.right);
  }
  Value operator()(const Concatenation& e) const {
    Text out;
    const std::vector<Value> items = values(e.items);
    bool markup = false;
    for (const Value& item : items) markup |= is_markup(item);
    markup &= runtime().autoescape;
    for (const Value& item : items) {
      if (markup && !is_markup(item)) {
        out.add(escape_html(to_text(runtime(), item)));
      } else {
        append_text(runtime(), out, item);
      }
    }
    return runtime().string(out.take(), markup);
  }
  Value operator()(const Compare& e) const {
    Value left = value(e.first);
    for (const auto& [op, operand] : e.rest) {
      Value right = value(operand);
      if (!compare(runtime(), op, left, right)) return Value::boolean(false);
      left = std::move(right);
    }
    return Value::boolean(true);
  }
  Value operator()(const Conditional& e) const {
    if (truth(value(e.test))) return value(e.yes);
    return e.no ? value(e.no) : runtime().undefined("the inline if-expression evaluated to false and no else section was defined");
  }
};

Value Evaluator::evaluate(const Expression& expression, const Ref<Scope>& scope) {
  runtime_.step();
  const Runtime::Nested nested(runtime_);
  runtime_.line = expression.line;
  return std::visit(ExpressionVisitor{*this, scope, expression.line}, expression.node);
}

CallArguments Evaluator::evaluate_arguments(const Arguments& arguments, const Ref<Scope>& scope) {
  CallArguments out;
  out.positional.reserve(arguments.positional.size());
  for (const auto& e : arguments.positional) out.positional.push_back(evaluate(*e, scope));
  if (arguments.star) {
    const Value rest = evaluate(*arguments.star, scope);
    for (Value& item : to_vector(runtime_, rest)) out.positional.push_back(std::move(item));
  }
  for (const auto& [key, e] : arguments.named) out.named.emplace_back(key, evaluate(*e, scope));
  if (!arguments.double_star) return out;
  const Value named = evaluate(*arguments.double_star, scope);
  if (!named.is(Kind::kDict)) invalid("the argument after ** must be a mapping, not {}", type_name(named));
  for (const auto& [key, value] : named.as<DictObject>().items()) {
    if (!key.is_string()) invalid("the names of keyword arguments must be strings");
    for (const auto& [other, e] : arguments.named)
      if (other == text_of(key)) invalid("got multiple values for keyword argument '{}'", other);
    out.named.emplace_back(text_of(key), value);
  }
  return out;
}

Value Evaluator::call_function(const Call& node, int line, const Ref<Scope>& scope, const Value* caller) {
  const Value callee = evaluate(*node.callee, scope);
  CallArguments arguments = evaluate_arguments(node.arguments, scope);
  if (caller) arguments.named.emplace_back("caller", *caller);
  runtime_.line = line;
  return call(runtime_, callee, arguments);
}

Value Evaluator::apply_filter(const Filter& filter, int line, const Ref<Scope>& scope, const Value* text) {
  Value operand;
  if (!filter.operand) {
    operand = *text;
  } else if (text) {  // a chain of filters that starts at the block's text
    operand = apply_filter(std::get<Filter>(filter.operand->node), filter.operand->line, scope, text);
  } else {
    operand = evaluate(*filter.operand, scope);
  }
  if (!filter.function) invalid("there is no filter named '{}'", printable(filter.name));
  const CallArguments arguments = evaluate_arguments(filter.arguments, scope);
  runtime_.line = line;
  runtime_.step_through(operand);
  return filter.function(runtime_, operand, arguments);
}

}  // namespace headrace::jinja
