// Recognition as text, what it must leave alone, and its law: what an op decomposes into is recognized as the op again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/ops.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"
#include "ops/softmax/softmax.h"
#include "ops/unary/unary.h"

namespace headrace {
namespace {

constexpr char kLeaves[] = R"(
  input %x : f32[tokens, 8]
  input %y : f32[tokens, 8]
  input %h : bf16[tokens, 8]
  param %w : f32[8]
  param %b : f32[8]
  param %wh : bf16[8]
  const %eps : f32[] = [0.5]
  const %zero : f32[] = [0]
  const %one : f32[] = [1]
  const %two : f32[] = [2]
  const %three : f32[] = [3]
  const %half : f32[] = [0.5]
  const %eight : f32[] = [8]
  const %minus_half : f32[] = [-0.5]
  const %root_half : f32[] = [0.70710677]
  const %root_two : f32[] = [1.4142135]
  const %cubic : f32[] = [0.044715]
  const %root_two_over_pi : f32[] = [0.7978846]
)";

Graph parse(const std::string& body) { return Graph::parse("graph g {" + std::string(kLeaves) + body + "\n}", builtin_ops()); }

std::string text_of(const Graph& graph) {
  std::string out;
  for (const Node* node : graph.nodes()) out += (out.empty() ? "" : "; ") + to_text(*node);
  return out;
}

std::string recognized(const std::string& body) {
  Graph graph = parse(body + " return %r");
  recognize(graph, {});
  graph.verify();
  return text_of(graph.clone());  // a clone counts nameless values from 0
}
void expect_alone(const std::string& body, const std::string& why) {
  Graph graph = parse(body);
  const std::string before = text_of(graph);
  recognize(graph, {});
  EXPECT_EQ(text_of(graph), before) << why;
}

TEST(RecognizeNorms, RmsNormInManySpellings) {
  for (const char* square : {"mul(%x, %x)", "square(%x)", "pow(%x, %two)"})
    for (const char* scale : {"%i = rsqrt(%e) %n = mul(%x, %i)", "%q = sqrt(%e) %n = div(%x, %q)",
                              "%q = sqrt(%e) %i = div(%one, %q) %n = mul(%i, %x)", "%i = pow(%e, %minus_half) %n = mul(%x, %i)"})
      for (const char* mean : {"%m = mean(%s) {axes=[-1], keepdim=true}", "%u = sum(%s) {axes=[1], keepdim=true} %m = div(%u, %eight)"})
        EXPECT_EQ(recognized(fmt::format("%s = {} {} %e = add(%eps, %m) {} %r = mul(%w, %n)", square, mean, scale)),
                  "%r = rms_norm(%x, %w) {eps=0.5}");
}

TEST(RecognizeNorms, RmsNormWithAnOffsetAndInWiderTypes) {
  const std::string norm =
      "%s = square(%{0}) %m = mean(%s) {{axes=[-1], keepdim=true}} %e = add(%m, %eps) %i = rsqrt(%e) %n = mul(%{0}, %i) ";
  const std::string of_x = fmt::format(fmt::runtime(norm), "x"), of_f = fmt::format(fmt::runtime(norm), "f");
  EXPECT_EQ(recognized(of_x + "%o = add(%one, %w) %r = mul(%n, %o)"), "%r = rms_norm(%x, %w) {eps=0.5, weight_offset=1}");
  EXPECT_EQ(recognized("%f = cast(%h) {dtype=f32} " + of_f + "%c = cast(%n) {dtype=bf16} %r = mul(%c, %wh)"),
            "%r = rms_norm(%h, %wh) {eps=0.5}");
  EXPECT_EQ(recognized("%f = cast(%h) {dtype=f32} " + of_f + "%p = cast(%wh) {dtype=f32} %q = mul(%n, %p) %r = cast(%q) {dtype=bf16}"),
            "%r = rms_norm(%h, %wh) {eps=0.5}");
  EXPECT_EQ(recognized("%f = cast(%h) {dtype=f32} " + of_f + "%r = mul(%n, %w)"), "%f = cast(%h); %r = rms_norm(%f, %w) {eps=0.5}")
      << "a result that stays wide";
}

TEST(RecognizeNorms, LeavesAloneWhatIsNoRmsNorm) {
  const auto body = [](const char* mean, const char* rest) {
    return fmt::format("%s = mul(%x, %x) %m = {} %e = add(%m, %eps) %i = rsqrt(%e) {}", mean, rest);
  };
  const char *mean = "mean(%s) {axes=[-1], keepdim=true}", *rest = "%n = mul(%x, %i) %r = mul(%n, %w) return %r";
  EXPECT_EQ(recognized(body(mean, "%n = mul(%x, %i) %r = mul(%n, %w)")), "%r = rms_norm(%x, %w) {eps=0.5}");
  const auto alone = [&](const std::string& text, const char* why) {
    Graph graph = parse(text);
    recognize(graph, {});
    EXPECT_EQ(text_of(graph).find("rms_norm"), std::string::npos) << why << ": " << text_of(graph);
  };
  alone(body("mean(%s) {axes=[0], keepdim=true}", rest), "another axis");
  alone(body("sum(%s) {axes=[-1], keepdim=true}", rest), "a sum");
  alone(body("max(%s) {axes=[-1], keepdim=true}", rest), "a maximum");
  alone(body(mean, "%n = mul(%y, %i) %r = mul(%n, %w) return %r"), "another value is scaled");
  alone(body(mean, "%n = mul(%x, %i) %r = mul(%n, %y) return %r"), "the weight is no vector");
  alone(body(mean, "%n = mul(%x, %i) %r = mul(%n, %w) return %r, %n"), "a marked value");
  alone(body(mean, "%n = mul(%x, %i) %r = mul(%n, %w) %o = neg(%i) return %r, %o"), "another reader");
}

TEST(RecognizeNorms, LayerNormWithAndWithoutWeightAndBias) {
  const std::string norm =
      "%m = mean(%x) {axes=[1], keepdim=true} %d = sub(%x, %m) %s = mul(%d, %d) %v = mean(%s) {axes=[1], keepdim=true} %e = add(%v, %eps) ";
  const auto body = [&](const std::string& rest) {
    std::string text = norm + rest;
    for (size_t at; (at = text.find("%v")) != std::string::npos;) text.replace(at, 2, "%q");
    return text;
  };
  EXPECT_EQ(recognized(body("%i = rsqrt(%e) %r = mul(%d, %i)")), "%r = layer_norm(%x) {eps=0.5}");
  EXPECT_EQ(recognized(body("%i = sqrt(%e) %n = div(%d, %i) %r = mul(%w, %n)")), "%r = layer_norm(%x, %w) {eps=0.5}");
  EXPECT_EQ(recognized(body("%i = rsqrt(%e) %n = mul(%d, %i) %p = mul(%n, %w) %r = add(%b, %p)")), "%r = layer_norm(%x, %w, %b) {eps=0.5}");
  EXPECT_NE(recognized(body("%i = rsqrt(%e) %n = mul(%d, %i) %r = mul(%n, %y)")).find("= layer_norm(%x) {eps=0.5}; %r = mul("),
            std::string::npos)
      << "no vector: the norm alone";
}

TEST(Arithmetic, PowersAndFactorsOfOne) {
  EXPECT_EQ(recognized("%r = pow(%x, %two)"), "%r = square(%x)");
  EXPECT_EQ(recognized("%r = pow(%x, %half)"), "%r = sqrt(%x)");
  EXPECT_EQ(recognized("%r = pow(%x, %minus_half)"), "%r = rsqrt(%x)");
  EXPECT_EQ(recognized("%p = mul(%one, %x) %q = div(%p, %one) %s = pow(%q, %one) %r = neg(%s)"), "%r = neg(%x)");
  expect_alone("%r = pow(%x, %three) return %r", "a cube is not as exact");
  expect_alone("input %n : i32[4] const %i2 : i32[] = [2] %r = pow(%n, %i2) return %r", "integers");
  expect_alone("const %s : f32[1, 1, 1] = [1] %r = mul(%x, %s) return %r", "another shape");
}

TEST(RecognizeActivations, SigmoidSiluReluSquare) {
  EXPECT_EQ(recognized("%n = neg(%x) %e = exp(%n) %s = add(%one, %e) %r = div(%one, %s)"), "%r = sigmoid(%x)");
  EXPECT_EQ(recognized("%s = sigmoid(%x) %r = mul(%s, %x)"), "%r = silu(%x)");
  EXPECT_EQ(recognized("%n = neg(%x) %e = exp(%n) %s = add(%e, %one) %q = div(%one, %s) %r = mul(%x, %q)"), "%r = silu(%x)");
  EXPECT_EQ(recognized("%n = neg(%x) %e = exp(%n) %s = add(%e, %one) %r = div(%x, %s)"), "%r = silu(%x)");
  EXPECT_EQ(recognized("%r = maximum(%zero, %x)"), "%r = relu(%x)");
  EXPECT_EQ(recognized("%r = mul(%x, %x)"), "%r = square(%x)");
  expect_alone("%s = sigmoid(%x) %r = mul(%s, %y) return %r", "another factor");
  expect_alone("%s = sigmoid(%x) %r = mul(%s, %x) return %r, %s", "a marked sigmoid");
  expect_alone("%r = maximum(%x, %one) return %r", "another bound");
  expect_alone("input %p : bool[4] const %no : bool[] = [0] %r = maximum(%p, %no) return %r", "no floats");
  expect_alone("%r = mul(%w, %x) return %r", "no square");
}

TEST(RecognizeActivations, GeluInManySpellings) {
  for (const char* inner : {"%i = mul(%x, %root_half)", "%i = div(%x, %root_two)"})
    for (const char* product :
         {"%p = mul(%x, %half) %r = mul(%p, %a)", "%p = mul(%half, %a) %r = mul(%x, %p)", "%p = mul(%x, %a) %r = mul(%p, %half)"})
      EXPECT_EQ(recognized(fmt::format("{} %f = erf(%i) %a = add(%f, %one) {}", inner, product)), "%r = gelu(%x)");
  for (const char* cube : {"%c = pow(%x, %three)", "%c2 = mul(%x, %x) %c = mul(%c2, %x)", "%c2 = square(%x) %c = mul(%x, %c2)"})
    EXPECT_EQ(recognized(fmt::format("{} %d = mul(%c, %cubic) %e = add(%x, %d) %f = mul(%e, %root_two_over_pi) %t = tanh(%f) %a = add(%t, "
                                     "%one) %m = mul(%x, %half) %r = mul(%m, %a)",
                                     cube)),
              "%r = gelu(%x) {tanh=true}");
  EXPECT_EQ(
      recognized("%s = mul(%x, %x) %d = mul(%s, %cubic) %e = add(%one, %d) %p = mul(%x, %root_two_over_pi) %f = mul(%p, %e) %t = tanh(%f) "
                 "%a = add(%t, %one) %m = mul(%x, %half) %r = mul(%m, %a)"),
      "%r = gelu(%x) {tanh=true}");
  expect_alone("%i = mul(%x, %half) %f = erf(%i) %a = add(%f, %one) %r = mul(%i, %a) return %r", "another scale");
}

TEST(RecognizeSoftmax, AlongAnyAxisAndBetweenCasts) {
  const char* spelling =
      "%m = max(%{0}) {{axes=[{1}], keepdim=true}} %d = sub(%{0}, %m) %e = exp(%d) %s = sum(%e) {{axes=[{1}], keepdim=true}} %{2} = "
      "div(%e, %s) ";
  const auto softmax = [&](const char* x, int axis, const char* y) { return fmt::format(fmt::runtime(spelling), x, axis, y); };
  for (int axis : {-1, 1}) EXPECT_EQ(recognized(softmax("x", axis, "r")), "%r = softmax(%x)");
  EXPECT_EQ(recognized(softmax("x", 0, "r")), "%r = softmax(%x) {axis=0}");
  EXPECT_EQ(recognized("%f = cast(%h) {dtype=f32} " + softmax("f", -1, "q") + "%r = cast(%q) {dtype=bf16}"), "%r = softmax(%h)");
  expect_alone(
      "%m = max(%x) {axes=[0], keepdim=true} %d = sub(%x, %m) %e = exp(%d) %s = sum(%e) {axes=[1], keepdim=true} %r = div(%e, %s) return "
      "%r",
      "two axes");
  expect_alone("%e = exp(%x) %s = sum(%e) {axes=[1], keepdim=true} %r = div(%e, %s) return %r", "powers that may overflow");
  expect_alone(softmax("x", 1, "r") + "return %r, %e", "marked powers");
}

TEST(Recognize, TwoSpellingsOfOneIdeaBecomeOneNode) {
  EXPECT_EQ(recognized("%a = pow(%x, %minus_half) %c = rsqrt(%x) %r = add(%a, %c)"), "%a = rsqrt(%x); %r = add(%a, %a)");
}

TEST(RecognizeGated, HalvesOfOneValue) {
  const std::string halves = "%g = slice(%x) {axis=-1, begin=0, end=4} %u = slice(%x) {axis=1, begin=4, end=8} ";
  EXPECT_EQ(recognized(halves + "%a = silu(%g) %r = mul(%u, %a)"), "%r = gated(%x)");
  EXPECT_EQ(recognized(halves + "%a = gelu(%g) {tanh=true} %r = mul(%a, %u)"), "%r = gated(%x) {activation=gelu_tanh}");
  expect_alone(halves + "%a = silu(%u) %r = mul(%a, %g) return %r", "the second half is activated");
  expect_alone(halves + "%a = tanh(%g) %r = mul(%a, %u) return %r", "no activation that gated has");
  expect_alone(halves + "%a = silu(%g) %r = mul(%a, %u) return %r, %a", "a marked value");
}

constexpr char kAngles[] = R"(
  input %p : i32[tokens]
  input %q : f32[tokens, 3, 4]
  param %f : f32[2]
  %c0 = view(%p) {shape=[tokens, 1]}
  %c1 = cast(%c0) {dtype=f32}
  %a = mul(%c1, %f)
)";

TEST(RecognizeRope, RotateHalfAsHuggingFaceWritesIt) {
  EXPECT_EQ(recognized(std::string(kAngles) + R"(
  %d = concat(%a, %a) {axis=-1}
  %cos = cos(%d)
  %sin = sin(%d)
  %cv = view(%cos) {shape=[tokens, 1, 4]}
  %sv = view(%sin) {shape=[tokens, 1, 4]}
  %low = slice(%q) {axis=-1, begin=0, end=2}
  %high = slice(%q) {axis=-1, begin=2}
  %minus = neg(%high)
  %turned = concat(%minus, %low) {axis=-1}
  %m1 = mul(%q, %cv)
  %m2 = mul(%turned, %sv)
  %r = add(%m1, %m2))")
                    .find("rope(") == std::string::npos,
            false);
}

constexpr char kHeads[] = R"(
  input %q : f32[b, 4, l, 8]
  input %k : f32[b, 4, s, 8]
  input %k2 : f32[b, 2, s, 8]
  input %v : f32[b, 4, s, 8]
  input %v2 : f32[b, 2, s, 8]
  input %mask : bool[l, s]
  input %bias : f32[b, 1, l, s]
  const %eighth : f32[] = [0.125]
  const %ninf : f32[] = [-inf]
  const %low : f32[] = [-10000]
)";
std::string attended(const std::string& body) { return recognized(kHeads + body); }

TEST(RecognizeAttention, ScaledMaskedAndGrouped) {
  const std::string t = "%t = permute(%k) {axes=[0, 1, 3, 2]} ", p = t + "%p = matmul(%q, %t) ";
  EXPECT_EQ(attended(p + "%w0 = softmax(%p) %r = matmul(%w0, %v)"), "%r = scaled_dot_product_attention(%q, %k, %v) {scale=1}");
  EXPECT_EQ(attended(p + "%c = div(%p, %eight) %w0 = softmax(%c) {axis=3} %r = matmul(%w0, %v)"),
            "%r = scaled_dot_product_attention(%q, %k, %v) {scale=0.125}");
  EXPECT_EQ(attended(t + "%a = mul(%q, %eighth) %p = matmul(%a, %t) %c = mul(%p, %two) %w0 = softmax(%c) %r = matmul(%w0, %v)"),
            "%r = scaled_dot_product_attention(%q, %k, %v) {scale=0.25}");
  EXPECT_EQ(attended(p + "%c = mul(%p, %eighth) %m = where(%mask, %c, %ninf) %w0 = softmax(%m) %r = matmul(%w0, %v)"),
            "%r = scaled_dot_product_attention(%q, %k, %v, %mask) {scale=0.125}");
  EXPECT_EQ(attended(p + "%m = add(%bias, %p) %w0 = softmax(%m) %r = matmul(%w0, %v)"),
            "%r = scaled_dot_product_attention(%q, %k, %v, %bias) {scale=1}");
  const std::string repeat =
      "%{0}a = view(%{0}2) {{shape=[b, 2, 1, s, 8]}} %{0}b = expand(%{0}a) {{shape=[b, 2, 2, s, 8]}} %{0}c = view(%{0}b) {{shape=[b, 4, s, "
      "8]}} ";
  const std::string k = fmt::format(fmt::runtime(repeat), "k"), v = fmt::format(fmt::runtime(repeat), "v");
  EXPECT_EQ(attended(k + v + "%t = permute(%kc) {axes=[0, 1, 3, 2]} %p = matmul(%q, %t) %w0 = softmax(%p) %r = matmul(%w0, %vc)"),
            "%r = scaled_dot_product_attention(%q, %k2, %v2) {scale=1}");
  EXPECT_NE(attended(k + "%t = permute(%kc) {axes=[0, 1, 3, 2]} %p = matmul(%q, %t) %w0 = softmax(%p) %r = matmul(%w0, %v)")
                .find("%r = scaled_dot_product_attention(%q, %kc, %v) {scale=1}"),
            std::string::npos)
      << "only the keys were repeated";
}

TEST(RecognizeAttention, CausalMasksComputedAndWrittenOut) {
  const std::string p = "input %x3 : f32[2, 3, 8] %t = permute(%x3) {axes=[0, 2, 1]} %p = matmul(%x3, %t) ";
  const std::string rest = " %w0 = softmax(%m) %r = matmul(%w0, %x3)",
                    causal = "%r = scaled_dot_product_attention(%x3, %x3, %x3) {scale=1, causal=true}";
  const std::string inf = "const %ninf : f32[] = [-inf] ";
  EXPECT_EQ(recognized(inf + p + "const %c : bool[3, 3] = [1, 0, 0, 1, 1, 0, 1, 1, 1] %m = where(%c, %p, %ninf)" + rest), causal);
  EXPECT_EQ(recognized(inf + p + "const %c : f32[1, 3, 3] = [0, -inf, -inf, 0, 0, -inf, 0, 0, 0] %m = add(%p, %c)" + rest), causal);
  EXPECT_NE(
      recognized(inf + p + "const %c : bool[3, 3] = [1, 1, 0, 1, 1, 0, 1, 1, 1] %m = where(%c, %p, %ninf)" + rest).find("%c) {scale=1}"),
      std::string::npos)
      << "another mask is an operand";
}

TEST(RecognizeAttention, LeavesAlone) {
  const auto alone = [](const std::string& rest, const char* why) {
    Graph graph = parse(std::string(kHeads) + "%t = permute(%k) {axes=[0, 1, 3, 2]} %p = matmul(%q, %t) " + rest);
    recognize(graph, {});
    EXPECT_EQ(text_of(graph).find("scaled_dot_product"), std::string::npos) << why << ": " << text_of(graph);
  };
  alone("%w0 = softmax(%p) {axis=2} %r = matmul(%w0, %v) return %r", "another axis");
  alone("%w0 = softmax(%p) %r = matmul(%w0, %v) return %r, %w0", "marked weights");
  alone("%w0 = softmax(%p) %r = matmul(%w0, %v) %o = neg(%p) return %r, %o", "scores that somebody else reads");
  alone("%m = where(%mask, %p, %low) %w0 = softmax(%m) %r = matmul(%w0, %v) return %r", "hidden scores that count a little");
  alone("%c = mul(%p, %bias) %w0 = softmax(%c) %r = matmul(%w0, %v) return %r", "no number scales");
}

// What stands for an op after it was decomposed and recognized.
std::string decomposed_and_recognized(const std::string& body) {
  Graph graph = parse(body + " return %r");
  Node& node = *graph.outputs()[0].value.producer();
  graph.insert_before(&node);
  const std::vector<Value> parts = node.op().decompose(graph, node, node.inputs());
  graph.insert_before(nullptr);
  graph.replace_all_uses(node.output(), parts[0]);
  graph.erase(node);
  graph.rename(parts[0], "r");
  canonicalize(graph, {});
  recognize(graph, {});
  canonicalize(graph, {});
  graph.verify();
  return text_of(graph);
}

TEST(Recognize, IsTheInverseOfDecomposition) {
  for (const char* body :
       {"%r = rms_norm(%x, %w) {eps=0.5}", "%r = rms_norm(%h, %wh) {eps=0.5, weight_offset=1}", "%r = layer_norm(%x) {eps=0.5}",
        "%r = layer_norm(%x, %w)", "%r = layer_norm(%h, %wh, %b) {eps=0.5}", "%r = layer_norm(%x, %w, %b) {weight_offset=1}",
        "%r = silu(%x)", "%r = gelu(%x)", "%r = gelu(%x) {tanh=true}", "%r = silu(%h)", "%r = gelu(%h) {tanh=true}", "%r = softmax(%x)",
        "%r = softmax(%x) {axis=0}", "%r = softmax(%h)", "%r = gated(%x)", "%r = gated(%x) {activation=gelu_erf}",
        "%r = gated(%x) {activation=relu}"})
    EXPECT_EQ(decomposed_and_recognized(body), body);
  const std::string table = "input %t4 : f32[tokens, 4] input %t2 : f32[tokens, 2] ";
  for (const char* body :
       {"%r = rope(%x, %t4) {head_dim=4}", "%r = rope(%x, %t4) {head_dim=4, interleaved=true}", "%r = rope(%x, %t2) {head_dim=4}",
        "%r = rope(%x, %t2) {head_dim=4, interleaved=true}", "%r = rope(%x, %t4) {head_dim=8}"})
    EXPECT_EQ(decomposed_and_recognized(table + body), body);
  for (const char* body :
       {"%r = scaled_dot_product_attention(%q, %k, %v)", "%r = scaled_dot_product_attention(%q, %k2, %v2) {scale=0.25}",
        "%r = scaled_dot_product_attention(%q, %k, %v) {causal=true}",
        "%r = scaled_dot_product_attention(%q, %k2, %v2, %mask) {causal=true}", "%r = scaled_dot_product_attention(%q, %k, %v, %bias)"})
    EXPECT_EQ(decomposed_and_recognized(kHeads + std::string(body)), body);
}

}  // namespace
}  // namespace headrace
