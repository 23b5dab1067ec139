// Statements.
#include "core/error.h"
#include "jinja/evaluator.h"
#include "jinja/loop.h"
#include "jinja/macro.h"
#include "jinja/text_form.h"

namespace headrace::jinja {

using namespace ast;

namespace {

class RecursiveLoop : public LoopBody {
 public:
  RecursiveLoop(Evaluator& evaluator, const For& loop, Ref<Scope> scope) : evaluator_(evaluator), loop_(loop), scope_(std::move(scope)) {}
  void clear() override { scope_ = {}; }

  Value render(Runtime& runtime, const Value& items, int depth0) override {
    Text out;
    Frame frame{scope_, out};
    Flow flow = Flow::kNormal;
    evaluator_.run_loop(loop_, items, depth0, Ref<LoopBody>(this), frame, flow);
    return runtime.string(out.take(), runtime.autoescape);
  }

 private:
  Evaluator& evaluator_;
  const For& loop_;
  Ref<Scope> scope_;
};

}  // namespace

struct Evaluator::StatementVisitor {
  Evaluator& self;
  Frame& frame;
  int line;

  Runtime& runtime() const { return self.runtime_; }
  Value value(const ExpressionPtr& e) const { return self.evaluate(*e, frame.scope); }
  Flow inner(const ScopedBody& body, Ref<Scope> scope) const {
    Frame inside{std::move(scope), frame.out};
    return self.run_body(body.statements, inside);
  }
  // The text of a body that runs in a scope of its own.
  Flow capture(const ScopedBody& body, const Ref<Scope>& scope, Value& text) const {
    Text out;
    Frame inside{scope, out};
    const Flow flow = self.run_body(body.statements, inside);
    text = runtime().string(out.take(), runtime().autoescape);
    return flow;
  }
  // What a block is replaced by.
  void write_text(const Value& text) const {
    if (!text.is_string()) invalid("a filter or call block must give a string, not {}", type_name(text));
    frame.out.add(text_of(text));
  }

  Flow operator()(const PlainText& s) const {
    frame.out.add(s.text);
    return Flow::kNormal;
  }
  Flow operator()(const Output& s) const {
    for (const auto& item : s.items) self.print(value(item), frame.out);
    return Flow::kNormal;
  }
  Flow operator()(const If& s) const {
    for (const Branch& branch : s.branches)
      if (truth(value(branch.test))) return self.run_body(branch.body, frame);
    return self.run_body(s.otherwise, frame);
  }
  Flow operator()(const For& s) const {
    const Value items = value(s.items);
    Flow flow = Flow::kNormal;
    if (!s.is_recursive) {
      self.run_loop(s, items, 0, {}, frame, flow);
    } else {
      const auto body = runtime().heap.make<RecursiveLoop>(0, self, s, frame.scope);
      self.print(body->render(runtime(), items, 0), frame.out);
    }
    return flow;
  }
  Flow operator()(const Set& s) const {
    self.assign(s.target, value(s.value), frame.scope);
    return Flow::kNormal;
  }
  Flow operator()(const SetBlock& s) const {
    Value text;
    const Ref<Scope> scope = self.new_scope(frame.scope, s.body);
    const Flow flow = capture(s.body, scope, text);
    if (flow != Flow::kNormal) return flow;
    if (s.filter) text = self.apply_filter(std::get<Filter>(s.filter->node), s.filter->line, scope, &text);
    if (runtime().autoescape && !is_markup(text)) text = runtime().string(to_text(runtime(), text), true);
    self.assign(s.target, text, frame.scope);
    return Flow::kNormal;
  }
  Flow operator()(const MacroDefinition& s) const {
    frame.scope->set(s.macro->name, make_macro(self, s.macro, frame.scope));
    return Flow::kNormal;
  }
  Flow operator()(const CallBlock& s) const {
    const Value caller = make_macro(self, s.caller, frame.scope);
    write_text(self.call_function(std::get<Call>(s.call->node), s.call->line, frame.scope, &caller));
    return Flow::kNormal;
  }
  Flow operator()(const FilterBlock& s) const {
    Value text;
    const Ref<Scope> scope = self.new_scope(frame.scope, s.body);
    const Flow flow = capture(s.body, scope, text);
    if (flow == Flow::kNormal) write_text(self.apply_filter(std::get<Filter>(s.filter->node), s.filter->line, scope, &text));
    return flow;
  }
  Flow operator()(const With& s) const {
    const Ref<Scope> scope = self.new_scope(frame.scope, s.body);
    for (const auto& [target, e] : s.values) self.assign(target, value(e), scope);
    return inner(s.body, scope);
  }
  Flow operator()(const Scoped& s) const { return inner(s.body, self.new_scope(s.from_top ? self.top_ : frame.scope, s.body)); }
  Flow operator()(const Autoescape& s) const {
    const bool outside = runtime().autoescape;
    runtime().autoescape = truth(value(s.value));
    const Flow flow = inner(s.body, self.new_scope(frame.scope, s.body));
    runtime().autoescape = outside;
    return flow;
  }
  Flow operator()(const Break&) const { return Flow::kBreak; }
  Flow operator()(const Continue&) const { return Flow::kContinue; }
};

std::string Evaluator::run() {
  Text out;
  Frame frame{top_, out};
  run_body(tree_.body.statements, frame);
  return out.take();
}

Flow Evaluator::run_body(const Body& body, Frame& frame) {
  const Runtime::Nested nested(runtime_);
  for (const Statement& statement : body)
    if (const Flow flow = run_statement(statement, frame); flow != Flow::kNormal) return flow;
  return Flow::kNormal;
}

Flow Evaluator::run_statement(const Statement& statement, Frame& frame) {
  runtime_.step();
  runtime_.line = statement.line;
  return std::visit(StatementVisitor{*this, frame, statement.line}, statement.node);
}

void Evaluator::print(const Value& value, Text& out) {
  if (runtime_.autoescape && !is_markup(value)) {
    out.add(escape_html(to_text(runtime_, value)));
  } else {
    append_text(runtime_, out, value);
  }
}

void Evaluator::assign(const Target& target, const Value& value, const Ref<Scope>& scope) {
  if (target.name >= 0 && target.attribute.empty()) return scope->set(target.name, value);
  if (target.name >= 0) {
    const Value object = lookup(target.name, scope);
    if (!object.is(Kind::kNamespace)) invalid("cannot assign to an attribute of '{}': it is no namespace", printable(name(target.name)));
    return object.as<NamespaceObject>().attributes->set(runtime_, target.attribute, value);
  }
  if (!is_iterable(value)) invalid("cannot unpack a value of type {}", type_name(value));
  const std::vector<Value> values = to_vector(runtime_, value);
  if (values.size() != target.targets.size())
    invalid("cannot unpack: {} values were found, {} wanted", values.size(), target.targets.size());
  for (size_t i = 0; i < values.size(); ++i) assign(target.targets[i], values[i], scope);
}

// The items that pass the loop's own `if`, which sees the loop's targets but not its `loop`.
Value Evaluator::filtered_items(const For& loop, const Value& items, const Ref<Scope>& outside) {
  if (!loop.filter) return items;
  return runtime_.generator([this, &loop, next = iterate(runtime_, items), scope = new_scope(outside, {})](Value& out) {
    while (next(out)) {
      assign(loop.target, out, scope);
      if (truth(evaluate(*loop.filter, scope))) return true;
    }
    return false;
  });
}

void Evaluator::run_loop(const For& node, const Value& items, int depth0, const Ref<LoopBody>& recursion, Frame& frame, Flow& flow) {
  const auto loop = runtime_.heap.make<LoopObject>(64, runtime_, filtered_items(node, items, frame.scope), depth0);
  loop->body = recursion;
  Frame inside{new_scope(frame.scope, node.body), frame.out};
  bool reached_an_end = false;  // of the body: an iteration that was left by break or continue does not count, as in jinja2
  Value item;
  while (loop->advance(item)) {
    runtime_.step();
    inside.scope.is_only_one() ? inside.scope->reset(node.body.unset) : void(inside.scope = new_scope(frame.scope, node.body));
    assign(node.target, item, inside.scope);
    if (loop_name_ >= 0) inside.scope->set(loop_name_, Value(loop));
    const Flow body_flow = run_body(node.body.statements, inside);
    if (body_flow == Flow::kBreak) break;
    if (body_flow == Flow::kNormal) reached_an_end = true;
  }
  if (reached_an_end || node.otherwise.statements.empty()) return;
  Frame otherwise{new_scope(frame.scope, node.otherwise), frame.out};
  flow = run_body(node.otherwise.statements, otherwise);
}

}  // namespace headrace::jinja
