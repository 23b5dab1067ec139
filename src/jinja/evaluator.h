// Walks a template's tree: evaluates its expressions, runs its statements.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "jinja/ast.h"
#include "jinja/scope.h"

namespace headrace::jinja {

// Where a statement runs: the variables it sees and the text it writes.
struct Frame {
  Ref<Scope> scope;
  Text& out;
};

// How a body ended.
enum class Flow : uint8_t { kNormal, kBreak, kContinue };

class Evaluator {
 public:
  // Of `context` only what the template names is converted.
  Evaluator(Runtime& runtime, const ast::Tree& tree, const nlohmann::ordered_json& context);

  std::string run();

  Value evaluate(const ast::Expression& expression, const Ref<Scope>& scope);
  Flow run_body(const ast::Body& body, Frame& frame);
  void run_loop(const ast::For& loop, const Value& items, int depth0, const Ref<class LoopBody>& recursion, Frame& frame, Flow& flow);
  // For `body`, over `parent`.
  Ref<Scope> new_scope(const Ref<Scope>& parent, const ast::ScopedBody& body);
  const std::string& name(int id) const { return tree_.names[size_t(id)]; }
  // Of a name that the template uses.
  int find_name(std::string_view name) const;
  Runtime& runtime() { return runtime_; }

 private:
  struct ExpressionVisitor;
  struct StatementVisitor;

  Value lookup(int name, const Ref<Scope>& scope);
  Value constant(int index);
  CallArguments evaluate_arguments(const ast::Arguments& arguments, const Ref<Scope>& scope);
  Value call_function(const ast::Call& call, int line, const Ref<Scope>& scope, const Value* caller);
  // `text`: of the block around a filter without operand.
  Value apply_filter(const ast::Filter& filter, int line, const Ref<Scope>& scope, const Value* text);
  void assign(const ast::Target& target, const Value& value, const Ref<Scope>& scope);
  void print(const Value& value, Text& out);
  Flow run_statement(const ast::Statement& statement, Frame& frame);
  Value filtered_items(const ast::For& loop, const Value& items, const Ref<Scope>& scope);

  Runtime& runtime_;
  const ast::Tree& tree_;
  Ref<Scope> top_;
  std::vector<Value> context_;    // by name; missing when there is none
  std::vector<Value> constants_;  // of tree_.strings, made when first used
  int loop_name_ = -1;
};

}  // namespace headrace::jinja
