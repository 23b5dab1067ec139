// Graphs as text. One line for each leaf, node and result:
//
//   graph llama {
//     input %tokens : i32[tokens]
//     param %model.embed_tokens.weight : bf16[49152, 576]
//     const %half : f32[] = [0.5]
//     %x = embedding(%tokens, %model.embed_tokens.weight) : f32[tokens, 576]
//     %s, %n = add_rms_norm(%x, %y, %norm.weight) {eps=1e-05} : f32[tokens, 576], f32[tokens, 576]
//     return %n as "logits"
//   }
#include <algorithm>
#include <cctype>

#include "core/dtype.h"
#include "core/error.h"
#include "ir/value_data.h"

namespace headrace {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-'; }

bool is_plain(std::string_view name) { return !name.empty() && std::all_of(name.begin(), name.end(), is_word); }

std::string reference(const std::string& name) { return is_plain(name) ? "%" + name : "%" + detail::to_text(name); }

std::string elements_text(const Tensor& t) {
  std::string out = "[";
  for (int64_t i = 0; i < t.numel(); ++i)
    out += (i ? ", " : "") + dispatch(t.dtype, [&]<typename T>() {
             if constexpr (std::is_integral_v<T>) return std::to_string(int64_t(t.as<T>()[i]));
             else return fmt::format("{}", float(t.as<T>()[i]));
           });
  return out + "]";
}

constexpr std::string_view kLeafWords[] = {"", "input", "param", "state", "const"};

// An error of the text, with its line; what the graph says of a statement has none yet.
struct TextError : Error {
  using Error::Error;
};

// A cursor over the text; all reading goes through take_*, which fail with the line they stand in.
class Parser {
 public:
  Parser(std::string_view text, std::shared_ptr<const OpRegistry> ops) : text_(text), graph_(std::move(ops)) {}

  Graph parse() {
    expect("graph");
    const std::string name(take_word());
    graph_ = Graph(graph_.shared_ops(), name);
    expect("{");
    while (!accept("}")) {
      try {
        statement();
      } catch (const TextError&) {
        throw;
      } catch (const Error& e) {
        error(e.what());
      }
    }
    skip_space();
    if (at_ < text_.size()) error("text after the closing brace");
    return std::move(graph_);
  }

 private:
  [[noreturn]] void error(const std::string& what) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + int64_t(std::min(at_, text_.size())), '\n');
    throw TextError(ErrorCode::kInvalidArgument, fmt::format("graph text, line {}: {}", line, what));
  }

  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      else break;
    }
  }

  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    const size_t end = at_ + token.size();
    if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) error(fmt::format("wanted '{}', found '{}'", token, printable(text_.substr(std::min(at_, text_.size()), 20))));
  }

  std::string_view take_word() {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (begin == at_) error(fmt::format("wanted a name, found '{}'", printable(text_.substr(std::min(at_, text_.size()), 20))));
    return text_.substr(begin, at_ - begin);
  }

  // After the opening quote: behind the closing one.
  void skip_string() {
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    if (at_ >= text_.size()) error("a string without end");
    ++at_;
  }

  // After the opening brace: behind the one that closes it. Text in braces may be a graph, whose nodes have attributes, and no more.
  void skip_braces() {
    for (int depth = 1; depth > 0;) {
      at_ = std::min(text_.find_first_of("{}\"", at_), text_.size());
      if (at_ == text_.size()) error("a brace that nothing closes");
      const char c = text_[at_++];
      if (c == '"') skip_string();
      else depth += c == '{' ? 1 : -1;
      if (depth > 2) error("braces within braces within braces");
    }
  }

  // A value's text as an attribute holds it: a quoted string, a list in brackets, text in braces or a word.
  std::string_view take_literal() {
    skip_space();
    const size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
      skip_string();
    } else if (at_ < text_.size() && text_[at_] == '{') {
      ++at_;
      skip_braces();
    } else if (at_ < text_.size() && text_[at_] == '[') {
      at_ = text_.find(']', at_);
      if (at_ == std::string_view::npos) error("a list without end");
      ++at_;
    } else {
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '+')) ++at_;
      if (begin == at_) error("wanted a value");
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string take_name() {  // after '%'
    if (at_ < text_.size() && text_[at_] == '"') {
      std::string name;
      detail::from_text(take_literal(), name);
      return name;
    }
    return std::string(take_word());
  }

  TensorType take_type() {
    const std::string_view word = take_word();
    TensorType type;
    detail::from_text(word, type.dtype);
    detail::from_text(take_literal(), type.shape);
    return type;
  }

  Value take_value() {
    expect("%");
    const std::string name = take_name();
    const auto it = values_.find(name);
    if (it == values_.end()) error(fmt::format("'%{}' is not defined above", printable(name)));
    return it->second;
  }

  void define(const std::string& name, Value value) {
    if (!values_.emplace(name, value).second) error(fmt::format("'%{}' is defined twice", printable(name)));
  }

  void statement() {
    for (Leaf kind : {Leaf::kInput, Leaf::kParameter, Leaf::kState, Leaf::kConstant})
      if (accept(kLeafWords[int(kind)])) return leaf(kind);
    if (accept("return")) {
      do {
        const Value value = take_value();
        std::string name = value.name();
        if (accept("as")) detail::from_text(take_literal(), name);
        graph_.mark_output(value, name, {});
      } while (accept(","));
      return;
    }
    node();
  }

  void leaf(Leaf kind) {
    expect("%");
    const std::string name = take_name();
    expect(":");
    TensorType type = take_type();
    Value value;
    if (kind == Leaf::kConstant) {
      expect("=");
      value = graph_.constant(take_constant(type), name);
    } else {
      value = kind == Leaf::kInput   ? graph_.input(name, type, {})
              : kind == Leaf::kState ? graph_.state(name, type, {})
                                     : graph_.parameter(name, type, {});
    }
    define(name, value);
  }

  HostTensor take_constant(const TensorType& type) {
    const std::string_view list = take_literal();
    const Sizes sizes = type.shape.sizes();
    int64_t count = 1;
    for (int64_t s : sizes)
      if (s < 0 || __builtin_mul_overflow(count, s, &count)) error("a constant of impossible size");
    return dispatch(type.dtype, [&]<typename T>() {
      using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, float>;
      std::vector<Wide> values;
      detail::from_text(list, values);
      if (count != int64_t(values.size())) error(fmt::format("a constant {} has {} elements", type.to_string(), values.size()));
      HostTensor tensor(type.dtype, sizes);
      std::transform(values.begin(), values.end(), tensor.as<T>(), [&](Wide value) {
        if (std::is_integral_v<T> && Wide(T(value)) != value) error(fmt::format("{} does not fit {}", value, headrace::name(type.dtype)));
        return T(value);
      });
      return tensor;
    });
  }

  void node() {
    std::vector<std::string> names;
    do {
      expect("%");
      names.push_back(take_name());
    } while (accept(","));
    expect("=");
    const std::string op(take_word());
    const OpDef* definition = graph_.ops().find(op);
    if (!definition) error(fmt::format("there is no op '{}'", printable(op)));
    std::vector<Value> inputs;
    expect("(");
    if (!accept(")")) {
      do inputs.push_back(take_value());
      while (accept(","));
      expect(")");
    }
    std::vector<Field> fields;
    if (accept("{")) {
      do {
        Field field{std::string(take_word()), ""};
        expect("=");
        field.text = take_literal();
        fields.push_back(std::move(field));
      } while (accept(","));
      expect("}");
    }
    const std::vector<Value> outputs = graph_.emit_all(op, Attributes(definition->attributes, fields), std::move(inputs));
    if (outputs.size() != names.size()) error(fmt::format("{} has {} results, not {}", op, outputs.size(), names.size()));
    if (accept(":")) {
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (i) expect(",");
        if (const TensorType type = take_type(); type != outputs[i].type())
          error(fmt::format("%{} is {}, not {}", names[i], outputs[i].type().to_string(), type.to_string()));
      }
    }
    graph_.rename(outputs, names);
    for (size_t i = 0; i < outputs.size(); ++i) define(names[i], outputs[i]);
  }

  std::string_view text_;
  size_t at_ = 0;
  Graph graph_;
  std::unordered_map<std::string, Value> values_;  // by the name in the text
};

}  // namespace

std::string to_text(const Node& node) {
  std::string results, operands, fields;
  for (const Value& v : node.outputs()) results += (results.empty() ? "" : ", ") + reference(v.name());
  for (const Value& v : node.inputs()) operands += (operands.empty() ? "" : ", ") + reference(v.name());
  for (const Field& f : node.attributes().changed_fields()) fields += (fields.empty() ? "" : ", ") + f.name + "=" + f.text;
  return fmt::format("{} = {}({}){}", results, node.op().name, operands, fields.empty() ? "" : " {" + fields + "}");
}

std::string Graph::to_text() const {
  std::string out = fmt::format("graph {} {{\n", name_);
  for (const auto& v : values_) {
    if (v->leaf == Leaf::kNone) continue;
    out += fmt::format("  {} {} : {}", kLeafWords[int(v->leaf)], reference(v->name), v->type.to_string());
    if (v->leaf == Leaf::kConstant) out += " = " + elements_text(v->constant);
    out += "\n";
  }
  for (const auto& node : nodes_) {
    std::string types;
    for (const Value& v : node->outputs_) types += (types.empty() ? "" : ", ") + v.type().to_string();
    out += fmt::format("  {} : {}\n", headrace::to_text(*node), types);
  }
  for (const Output& o : outputs_) out += fmt::format("  return {} as {}\n", reference(o.value.name()), detail::to_text(o.name));
  return out + "}\n";
}

Graph Graph::parse(std::string_view text, std::shared_ptr<const OpRegistry> ops) { return Parser(text, std::move(ops)).parse(); }

}  // namespace headrace
