// softmax(q k^T scale + mask) v in plain ops -> scaled_dot_product_attention.
#include <cmath>
#include <limits>

#include "compiler/recognize/recognize.h"
#include "compiler/recognize/spellings.h"
#include "ops/reference.h"
#include "ops/scaled_dot_product_attention/scaled_dot_product_attention.h"
#include "ops/softmax/softmax.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

bool swaps_last_two(const Node& permute) {
  const auto& axes = permute.attributes_as<Permute>().axes;
  const int64_t rank = int64_t(axes.size());
  for (int64_t i = 0; i < rank; ++i)
    if ((axes[size_t(i)] + rank) % rank != (i < rank - 2 ? i : 2 * rank - 3 - i)) return false;
  return rank >= 2;
}

// Keys or values before each head was repeated for the query heads that share it: view(expand(view(x))); x itself if it was not.
Value before_repeating(Value x) {
  const auto m = match(op("view", {op("expand", {op("view", {any("x")}).or_shared()}).or_shared().as("wide")}).or_shared(), x);
  if (!m) return x;
  const Value own = (*m)["x"];
  const int rank = own.shape().rank();
  if (rank < 3 || x.shape().rank() != rank || !own.shape()[-3].is_constant() || !x.shape()[-3].is_constant()) return x;
  const int64_t heads = own.shape()[-3].value(), all = x.shape()[-3].value();
  if (heads <= 0 || all % heads != 0) return x;
  std::vector<Dim> wide = own.shape().dims(), flat = wide;
  wide.insert(wide.end() - 2, Dim(all / heads));
  flat[flat.size() - 3] = Dim(all);
  return (*m)["wide"].shape() == Shape(wide) && x.shape() == Shape(flat) ? own : x;
}

// Whether element (i, j) of the last two axes is `seen` for j <= i and `hidden` elsewhere.
bool is_lower_triangle(Value constant, float seen, float hidden) {
  const Tensor& t = constant.constant();
  if (t.rank() < 2 || t.numel() != t.sizes[-1] * t.sizes[-2] || is_block(t.dtype)) return false;
  const std::vector<float> values = read_floats(t);
  for (int64_t i = 0; i < t.sizes[-2]; ++i)
    for (int64_t j = 0; j < t.sizes[-1]; ++j)
      if (values[size_t(i * t.sizes[-1] + j)] != (j <= i ? seen : hidden)) return false;
  return true;
}

// A mask by which query i sees keys 0 to i: of bool, computed or written out, or of what is added to the scores.
bool is_causal(Value mask) {
  const float nothing = -std::numeric_limits<float>::infinity();
  if (mask.leaf() == Leaf::kConstant)
    return mask.dtype() == DType::kBool ? is_lower_triangle(mask, 1, 0) : is_lower_triangle(mask, 0, nothing);
  const Pattern keys = op("arange", {}).or_shared(),
                queries = op("view", {op("arange", {}).or_shared()}).or_shared().where("a column", [](const Node&n) {
                  return n.output().shape().rank() == 2 && n.output().shape()[1] == Dim(1);
                });
  const Pattern causal = any_of({op("ge", {queries, keys}), op("le", {keys, queries})});
  return match(causal, mask).has_value();
}

std::vector<Value> rewrite(Graph& graph, const Match& m) {
  const Value q = m["q"], k = before_repeating(m["k"]), v = before_repeating(m["v"]);
  const Value all_k = m["k"], all_v = m["v"];
  const bool repeated = k.shape()[-3] == v.shape()[-3];
  const int rank = q.shape().rank();
  if (rank < 3 || all_k.shape().rank() != rank || all_v.shape().rank() != rank || !q.shape()[-1].is_constant() || !is_float(q.dtype()))
    return {};
  for (int i = 0; i < rank - 2; ++i)
    if (all_k.shape()[i] != q.shape()[i] || all_v.shape()[i] != q.shape()[i]) return {};
  double scale = m.has("scale") ? m.number("scale") : m.has("divisor") ? 1 / m.number("divisor") : 1;
  if (m.has("q_scale")) scale *= m.number("q_scale");
  ScaledDotProduct attributes{.scale = float(scale)};
  const float usual = ScaledDotProduct().scale_for(q.shape()[-1].value());
  if (std::fabs(attributes.scale - usual) <= 1e-6f * usual) attributes.scale = 0;
  else if (!std::isfinite(attributes.scale) || attributes.scale == 0) return {};
  Value mask;
  for (const char* name : {"inner", "outer"}) {
    if (!m.has(name)) continue;
    if (is_causal(m[name])) attributes.causal = true;
    else if (!mask) mask = m[name];
    else return {};
  }
  if (mask && mask.dtype() != DType::kBool && mask.dtype() != q.dtype()) return {};
  std::vector<Value> operands{q, repeated ? k : all_k, repeated ? v : all_v};
  if (mask) operands.push_back(mask);
  const Value y = graph.emit("scaled_dot_product_attention", attributes, std::move(operands));
  return y.type() == m.root().type() ? std::vector{y} : std::vector<Value>();
}

}  // namespace

std::vector<Rule> attention_rules() {
  const Pattern q = any_of({op("mul", {any("q"), number("q_scale")}), any("q")});
  const Pattern keys = op("permute", {any("k")}).where("a transposition of the last two axes", swaps_last_two).or_shared();
  const Pattern product = op("matmul", {q, keys});
  const Pattern scores = any_of({op("mul", {product, number("scale")}), op("div", {product, number("divisor")}), product});
  const auto masked = [](const Pattern& s, const char* mask) {
    return any_of({op("where", {any(mask), s, number(-std::numeric_limits<double>::infinity())}), op("add", {s, any(mask)}), s});
  };
  const Pattern weights =
      op("softmax", {masked(masked(scores, "inner"), "outer")}).where("a softmax along the last axis", [](const Node& n) {
        return is_last(n.attributes_as<Softmax>().axis, n.output().shape().rank());
      });
  return {{"attention", op("matmul", {weights, any("v")}), rewrite}};
}

}  // namespace headrace
