// The syntax tree of a template. Immutable once parsed; no tree is higher than kMaxHeight.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jinja/operators.h"

// A table of node types, one a line.
// clang-format off

namespace headrace::jinja::ast {

inline constexpr int kMaxHeight = 200;

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Arguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr star;         // *rest, or null
  ExpressionPtr double_star;  // **named, or null
};

struct Literal { std::variant<std::monostate, bool, int64_t, double> value; };  // monostate: none
struct StringLiteral { int index; };                                           // into Tree::strings
struct Name { int id; };                                                       // into Tree::names
struct Sequence { std::vector<ExpressionPtr> items; bool is_tuple; };
struct Dictionary { std::vector<std::pair<ExpressionPtr, ExpressionPtr>> items; };
struct Attribute { ExpressionPtr object; std::string name; };
struct Item { ExpressionPtr object, key; };
struct Slice { ExpressionPtr object, start, stop, step; };  // the last three may be null
struct Call { ExpressionPtr callee; Arguments arguments; };
struct Filter {
  ExpressionPtr operand;  // null: the text of the block around it
  std::string name;
  NativeFunction function;  // null when there is no such filter, which is an error only when it is reached
  Arguments arguments;
};
struct Test { ExpressionPtr operand; std::string name; NativeFunction function; Arguments arguments; };
enum class UnaryOperator : uint8_t { kNot, kNegate, kPlus };
struct Unary { UnaryOperator op; ExpressionPtr operand; };
struct Binary { Operator op; ExpressionPtr left, right; };
struct Logical { bool is_or; ExpressionPtr left, right; };
struct Concatenation { std::vector<ExpressionPtr> items; };
struct Compare { ExpressionPtr first; std::vector<std::pair<Comparison, ExpressionPtr>> rest; };
struct Conditional { ExpressionPtr test, yes, no; };  // `no` may be null

struct Expression {
  int line;
  int height;
  std::variant<Literal, StringLiteral, Name, Sequence, Dictionary, Attribute, Item, Slice, Call, Filter, Test, Unary, Binary, Logical, Concatenation,
               Compare, Conditional>
      node;
};

struct Statement;
using Body = std::vector<Statement>;

// A body with variables of its own.
struct ScopedBody {
  Body statements;
  std::vector<int> unset;  // names that hide the context's until they are set: see name_analysis.h
};

// What is assigned to: a name, an attribute of a namespace, or several targets.
struct Target {
  int name = -1;
  std::string attribute;        // not empty: name.attribute
  std::vector<Target> targets;  // when name < 0
  int line = 1;
};

struct Signature {
  std::vector<int> names;
  std::vector<ExpressionPtr> defaults;  // of the last names
};

// Which of the variables that a macro may ask for its body uses.
struct MacroUses {
  bool caller = false, varargs = false, kwargs = false;
};

struct PlainText { std::string text; };
struct Output { std::vector<ExpressionPtr> items; };
struct Branch { ExpressionPtr test; Body body; };
struct If { std::vector<Branch> branches; Body otherwise; };
struct For {
  Target target;
  ExpressionPtr items;
  ExpressionPtr filter;  // may be null
  bool is_recursive = false;
  ScopedBody body, otherwise;
};
struct Set { Target target; ExpressionPtr value; };
struct SetBlock { Target target; ExpressionPtr filter; ScopedBody body; };  // filter may be null
struct Macro {
  int name = -1;  // -1: the body of a call block
  Signature signature;
  MacroUses uses;
  ScopedBody body;
};
struct CallBlock { std::shared_ptr<Macro> caller; ExpressionPtr call; };
struct MacroDefinition { std::shared_ptr<Macro> macro; };
struct FilterBlock { ExpressionPtr filter; ScopedBody body; };
struct With { std::vector<std::pair<Target, ExpressionPtr>> values; ScopedBody body; };
// A body with a scope of its own: over the template's top level for {% block %}, over where it stands for {% generation %}.
struct Scoped { bool from_top; ScopedBody body; };
struct Autoescape { ExpressionPtr value; ScopedBody body; };
struct Break {};
struct Continue {};

struct Statement {
  int line;
  std::variant<PlainText, Output, If, For, Set, SetBlock, MacroDefinition, CallBlock, FilterBlock, With, Scoped, Autoescape, Break, Continue> node;
};

struct Tree {
  std::vector<std::string> names;
  std::vector<std::string> strings;
  ScopedBody body;
};

}  // namespace headrace::jinja::ast
