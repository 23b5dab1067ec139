#include "jinja/parser.h"

#include "core/error.h"
#include "jinja/expression_parser.h"
#include "jinja/name_analysis.h"

namespace headrace::jinja {

using namespace ast;

namespace {

constexpr int kMaxBlocks = 100;  // nested tags

class Parser {
 public:
  Parser(std::string_view source, std::string_view name) : name_(name), stream_(source, name), expressions_(stream_, tree_) {}

  Tree run() {
    tree_.body.statements = parse_until({});
    if (!stream_.at(TokenKind::kEnd)) stream_.unexpected("the end of the template");
    analyze_names(tree_, name_);
    return std::move(tree_);
  }

 private:
  using EndNames = std::initializer_list<std::string_view>;

  bool at_end_name(EndNames ends) const {
    for (const std::string_view end : ends)
      if (stream_.at_name(end)) return true;
    return false;
  }

  // Statements up to a tag of one of these names, which becomes the current token; up to the end of the template if there are none.
  Body parse_until(EndNames ends) {
    Body body;
    std::vector<ExpressionPtr> output;
    while (!stream_.at(TokenKind::kEnd)) {
      const int line = stream_.line();
      if (stream_.at(TokenKind::kText)) {
        body.push_back({line, PlainText{stream_.next().text}});
      } else if (stream_.at(TokenKind::kExpressionBegin)) {
        stream_.next();
        std::vector<ExpressionPtr> items;
        items.push_back(expressions_.parse_tuple());
        body.push_back({line, Output{std::move(items)}});
        stream_.expect(TokenKind::kExpressionEnd, "'}}'");
      } else {
        stream_.expect(TokenKind::kTagBegin, "a tag");
        if (at_end_name(ends)) return body;
        body.push_back(parse_statement(ends));
        stream_.expect(TokenKind::kTagEnd, "'%}'");
      }
    }
    if (ends.size() > 0) fail_missing(ends);
    return body;
  }

  [[noreturn]] void fail_missing(EndNames ends) {
    std::string wanted;
    for (const std::string_view end : ends) wanted += fmt::format("{}{{% {} %}}", wanted.empty() ? "" : " or ", end);
    stream_.unexpected(fmt::format("{} (the innermost open tag is '{}')", wanted, open_tags_.empty() ? "" : open_tags_.back()));
  }

  // The rest of the tag, then a body up to one of `ends`.
  Body parse_body(EndNames ends) {
    stream_.take_symbol(":");
    stream_.expect(TokenKind::kTagEnd, "'%}'");
    return parse_until(ends);
  }

  Body parse_whole_body(std::string_view end) {
    Body body = parse_body({end});
    stream_.next();
    return body;
  }

  ScopedBody parse_scoped_body(std::string_view end) { return {parse_whole_body(end), {}}; }

  Statement parse_statement(EndNames ends) {
    const Token tag = stream_.expect(TokenKind::kName, "the name of a tag");
    if (open_tags_.size() >= kMaxBlocks) stream_.error(fmt::format("tags are nested deeper than {} levels", kMaxBlocks));
    open_tags_.push_back(tag.text);
    Statement statement{tag.line, parse_tag(tag.text, ends)};
    open_tags_.pop_back();
    return statement;
  }

  // What becomes a function of its own in jinja2: a loop outside cannot be left from within.
  template <typename Parse>
  auto isolated(Parse parse) {
    const int num_loops = std::exchange(num_loops_, 0);
    auto result = parse();
    num_loops_ = num_loops;
    return result;
  }

  decltype(Statement::node) parse_tag(const std::string& tag, EndNames ends) {
    if (tag == "if") return parse_if();
    if (tag == "for") return parse_for();
    if (tag == "set") return parse_set();
    if (tag == "macro") return parse_macro();
    if (tag == "call") return parse_call_block();
    if (tag == "filter") return parse_filter_block();
    if (tag == "with") return parse_with();
    if (tag == "generation") return isolated([&] { return Scoped{false, parse_scoped_body("endgeneration")}; });
    if (tag == "block") return isolated([&] { return parse_block(); });
    if (tag == "autoescape") {
      ExpressionPtr value = expressions_.parse_expression();
      return Autoescape{std::move(value), parse_scoped_body("endautoescape")};
    }
    if (tag == "print") return parse_print();
    if (tag == "break" || tag == "continue") {
      if (num_loops_ == 0) stream_.error(fmt::format("'{}' outside a loop", tag));
      if (tag == "break") return Break{};
      return Continue{};
    }
    if (tag == "include" || tag == "import" || tag == "from" || tag == "extends")
      stream_.error(fmt::format("'{}' is not supported: a chat template cannot load other templates", tag));
    if (ends.size() > 0 && tag.starts_with("e")) fail_missing(ends);
    stream_.error(fmt::format("unknown tag '{}'", printable(tag)));
  }

  If parse_if() {
    If node;
    while (true) {
      ExpressionPtr test = expressions_.parse_tuple_without_condition();
      node.branches.push_back({std::move(test), parse_body({"elif", "else", "endif"})});
      if (stream_.take_name("elif")) continue;
      if (stream_.take_name("else")) {
        node.otherwise = parse_whole_body("endif");
      } else {
        stream_.expect_name("endif");
      }
      return node;
    }
  }

  For parse_for() {
    For node;
    ++num_for_;
    node.target = expressions_.parse_target("in");
    check_not_loop(node.target);
    stream_.expect_name("in");
    node.items = expressions_.parse_tuple_without_condition("recursive");
    if (stream_.take_name("if")) node.filter = expressions_.parse_expression();
    node.is_recursive = stream_.take_name("recursive");
    const auto parse_rest = [&] {
      ++num_loops_;
      node.body.statements = parse_body({"endfor", "else"});
      --num_loops_;
      if (stream_.next().text == "else") node.otherwise.statements = parse_whole_body("endfor");
      return 0;
    };
    node.is_recursive ? isolated(parse_rest) : parse_rest();
    --num_for_;
    return node;
  }

  void check_not_loop(const Target& target) {
    if (num_for_ > 0 && target.name >= 0 && target.attribute.empty() && tree_.names[size_t(target.name)] == "loop")
      stream_.error("cannot assign to 'loop' inside a loop");
    for (const Target& part : target.targets) check_not_loop(part);
  }

  decltype(Statement::node) parse_set() {
    Target target = expressions_.parse_namespace_target();
    check_not_loop(target);
    if (stream_.take_symbol("=")) return Set{std::move(target), expressions_.parse_tuple()};
    ExpressionPtr filter = expressions_.parse_filters(nullptr);
    return SetBlock{std::move(target), std::move(filter), parse_scoped_body("endset")};
  }

  Signature parse_signature() {
    Signature signature;
    stream_.expect_symbol("(");
    while (!stream_.at_symbol(")")) {
      if (!signature.names.empty()) stream_.expect_symbol(",");
      const int name = expressions_.parse_name();
      for (const int other : signature.names)
        if (other == name) stream_.error(fmt::format("the parameter '{}' is named twice", printable(tree_.names[size_t(name)])));
      signature.names.push_back(name);
      if (stream_.take_symbol("=")) {
        signature.defaults.push_back(expressions_.parse_expression());
      } else if (!signature.defaults.empty()) {
        stream_.error("a parameter without a default follows one with a default");
      }
    }
    stream_.next();
    return signature;
  }

  std::shared_ptr<Macro> parse_macro_body(int name, Signature signature, std::string_view end) {
    Macro macro{.name = name, .signature = std::move(signature)};
    ExpressionParser::Uses uses;
    for (const int parameter : macro.signature.names) {
      const std::string& text = tree_.names[size_t(parameter)];
      if (text == "varargs") uses.hidden.varargs = true;
      if (text == "kwargs") uses.hidden.kwargs = true;
      if (text == "caller") uses.hidden.caller = true;
    }
    expressions_.uses.push_back(uses);
    macro.body = isolated([&] { return parse_scoped_body(end); });
    macro.uses = expressions_.uses.back().used;
    expressions_.uses.pop_back();
    return std::make_shared<Macro>(std::move(macro));
  }

  MacroDefinition parse_macro() {
    const int name = expressions_.parse_name();
    expressions_.note_assignment(tree_.names[size_t(name)]);
    Signature signature = parse_signature();
    return {parse_macro_body(name, std::move(signature), "endmacro")};
  }

  CallBlock parse_call_block() {
    Signature signature;
    if (stream_.at_symbol("(")) signature = parse_signature();
    ExpressionPtr call = expressions_.parse_expression();
    if (!std::holds_alternative<Call>(call->node)) stream_.error("wanted a call in {% call %}, as in {% call name(arguments) %}");
    return {parse_macro_body(-1, std::move(signature), "endcall"), std::move(call)};
  }

  FilterBlock parse_filter_block() {
    ExpressionPtr filter = expressions_.parse_filters(expressions_.parse_one_filter(nullptr));
    return {std::move(filter), parse_scoped_body("endfilter")};
  }

  With parse_with() {
    With node;
    while (!stream_.at(TokenKind::kTagEnd)) {
      if (!node.values.empty()) stream_.expect_symbol(",");
      Target target = expressions_.parse_target();
      check_not_loop(target);
      stream_.expect_symbol("=");
      node.values.emplace_back(std::move(target), expressions_.parse_expression());
    }
    node.body = parse_scoped_body("endwith");
    return node;
  }

  Scoped parse_block() {
    const std::string name = stream_.expect(TokenKind::kName, "the name of a block").text;
    const bool is_scoped = stream_.take_name("scoped");
    stream_.take_name("required");
    Scoped node{!is_scoped, parse_scoped_body("endblock")};
    stream_.take_name(name);
    return node;
  }

  Output parse_print() {
    Output node;
    while (!stream_.at(TokenKind::kTagEnd)) {
      if (!node.items.empty()) stream_.expect_symbol(",");
      node.items.push_back(expressions_.parse_expression());
    }
    return node;
  }

  const std::string_view name_;
  Tree tree_;
  TokenStream stream_;
  ExpressionParser expressions_;
  std::vector<std::string> open_tags_;
  int num_loops_ = 0;  // that break and continue can reach
  int num_for_ = 0;    // that enclose
};

}  // namespace

Tree parse_template(std::string_view source, std::string_view name) { return Parser(source, name).run(); }

}  // namespace headrace::jinja
