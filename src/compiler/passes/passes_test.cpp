// Passes as text: what goes in, what comes out, and what they must leave alone.
#include "compiler/passes/passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/test_support.h"
#include "ops/ops.h"
#include "ops/region/region.h"

namespace headrace {
namespace {

constexpr char kLeaves[] = R"(
  input %x : f32[tokens, 8]
  input %r : f32[tokens, 8]
  param %w : f32[8, 8]
  param %v : bf16[8, 8]
  param %u : f32[8, 8]
  param %b : f32[8]
  param %n : f32[8]
)";

Graph parse(const std::string& body) { return Graph::parse("graph g {" + std::string(kLeaves) + body + "\n}", builtin_ops()); }

// The nodes of the graph as text, one a line, leaves left out.
std::string nodes(const Graph& graph) {
  std::string out, text = graph.clone().to_text();  // a clone counts nameless values from 0
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.find(" = ") != std::string::npos && line.find("const ") == std::string::npos)
      out += line.substr(2, line.rfind(" : ") - 2) + "\n";
    at = end + 1;
  }
  return out;
}

std::string after(void (*pass)(Graph&, const CompileOptions&), const std::string& body, const CompileOptions& options = {}) {
  Graph graph = parse(body);
  pass(graph, options);
  graph.verify();
  return nodes(graph);
}

bool changes(void (*pass)(Graph&, const CompileOptions&), const std::string& body) { return after(pass, body) != nodes(parse(body)); }

TEST(Mark, NamedValuesAreReturnedAndSurviveAllPasses) {
  const std::string body =
      "%h.norm = rms_norm(%x, %n)\n %h.proj = linear(%h.norm, %w)\n %a = silu(%h.proj)\n %y = add(%a, %x)\n return %y as \"out\"";
  const auto compiled = [&](std::vector<std::string> marks) {
    Graph graph = parse(body);
    compile(graph, {.marks = std::move(marks)});
    std::string names;
    for (const Graph::Output& o : graph.outputs()) names += o.name + " ";
    return std::pair(graph.num_nodes(), names);
  };
  EXPECT_EQ(compiled({}), std::pair(1, std::string("out ")));
  EXPECT_EQ(compiled({"h.proj"}), std::pair(2, std::string("out h.proj ")));
  EXPECT_EQ(compiled({"h.*"}), std::pair(3, std::string("out h.norm h.proj ")));
  EXPECT_EQ(compiled({"h.norm", "*norm", "out"}), std::pair(2, std::string("out h.norm "))) << "named twice, or an output already";
}

TEST(Mark, ANameThatNothingHasIsAnErrorWithSomeThatThereAre) {
  const auto error = [](const std::string& mark, const std::string& body) {
    Graph graph = parse(body);
    return test::error_of([&] { compile(graph, {.marks = {mark}}); });
  };
  const std::string body = "%h.0.norm = rms_norm(%x, %n)\n %h.0.proj = linear(%h.0.norm, %w)\n %0 = silu(%h.0.proj)\n return %0 as \"out\"";
  EXPECT_NE(error("h.1.proj", body).find("has 2 with names, such as h.0.proj"), std::string::npos);
  EXPECT_NE(error("0", body).find("'0'"), std::string::npos) << "a number is no name";
  EXPECT_NE(error("z*", body).find("h.0.norm, h.0.proj"), std::string::npos);
  EXPECT_NE(error("*", "%0 = silu(%x)\n return %0").find("no value of this graph has a name"), std::string::npos);
}

TEST(Canonicalize, EqualNodesBecomeOne) {
  EXPECT_EQ(after(canonicalize, "%a = silu(%x)\n %c = silu(%x)\n %y = add(%a, %c)\n return %y"), "%a = silu(%x)\n%y = add(%a, %a)\n");
}

TEST(Canonicalize, EffectsAreNeverMerged) {
  const std::string write = " = kv_write(%kv, %x, %x, %slots)\n";
  EXPECT_FALSE(changes(canonicalize, " input %slots : i32[tokens]\n state %kv : f32[num_blocks, 2, 2, block_tokens, 4]\n %a" + write +
                                         " %c" + write + " return %x"));
}

TEST(Canonicalize, NodesWithOtherAttributesStayTwo) {
  EXPECT_FALSE(changes(canonicalize, "%a = gelu(%x)\n %c = gelu(%x) {tanh=true}\n %y = add(%a, %c)\n return %y"));
}

TEST(Canonicalize, WeightExpressionsMoveToTheFront) {
  EXPECT_EQ(after(canonicalize, "%a = silu(%x)\n %t = permute(%w) {axes=[1, 0]}\n %y = linear(%a, %t)\n return %y"),
            "%0 = permute(%w) {axes=[1, 0]}\n%a = silu(%x)\n%y = linear(%a, %0)\n");
}

TEST(Canonicalize, DeepWeightExpressionsTakeNoLonger) {
  std::string body, value = "%w";
  for (int i = 0; i < 3000; ++i) {
    const std::string next = "%d" + std::to_string(i);
    body += " " + next + " = add(" + value + ", " + value + ")\n";
    value = next;
  }
  EXPECT_FALSE(changes(canonicalize, body + " %y = linear(%x, " + value + ")\n return %y"));
}

TEST(Canonicalize, ViewsOfViewsBecomeOneAndIdleOnesGo) {
  EXPECT_EQ(after(canonicalize, "%a = view(%x) {shape=[tokens, 2, 4]}\n %c = view(%a) {shape=[4*tokens, 2]}\n %d = silu(%c)\n return %d"),
            "%c = view(%x) {shape=[4*tokens, 2]}\n%d = silu(%c)\n");
  EXPECT_EQ(after(canonicalize, "%a = view(%x) {shape=[tokens, 8]}\n %d = silu(%a)\n return %d"), "%d = silu(%x)\n");
}

TEST(FuseGatedMlp, TakesEitherOrderOfTheFactors) {
  const std::string fused = "fused_linear(%x, %w, %u) {num_weights=2, activation=silu, gated=true}";
  EXPECT_NE(after(fuse_gated_mlp, "%g = linear(%x, %w)\n %s = silu(%g)\n %p = linear(%x, %u)\n %y = mul(%s, %p)\n return %y").find(fused),
            std::string::npos);
  EXPECT_NE(after(fuse_gated_mlp, "%g = linear(%x, %w)\n %s = silu(%g)\n %p = linear(%x, %u)\n %y = mul(%p, %s)\n return %y").find(fused),
            std::string::npos);
}

TEST(FuseGatedMlp, LeavesAlone) {
  EXPECT_FALSE(changes(fuse_gated_mlp, "%g = linear(%x, %w)\n %s = silu(%g)\n %p = linear(%r, %u)\n %y = mul(%s, %p)\n return %y"))
      << "another input";
  EXPECT_FALSE(changes(fuse_gated_mlp, "%g = linear(%x, %w)\n %s = silu(%g)\n %p = linear(%x, %u)\n %y = mul(%s, %p)\n return %y, %s"))
      << "a marked value";
  EXPECT_FALSE(changes(fuse_gated_mlp,
                       "%g = linear(%x, %w)\n %s = silu(%g)\n %p = linear(%x, %u)\n %y = mul(%s, %p)\n %z = add(%y, %p)\n return %z"))
      << "another reader of up";
  EXPECT_FALSE(changes(fuse_gated_mlp, "%g = linear(%x, %w)\n %s = silu(%g)\n %p = linear(%x, %u, %b)\n %y = mul(%s, %p)\n return %y"))
      << "one bias only";
  EXPECT_FALSE(changes(fuse_gated_mlp, "%g = linear(%x, %w)\n %s = tanh(%g)\n %p = linear(%x, %u)\n %y = mul(%s, %p)\n return %y"))
      << "tanh is no gate";
}

TEST(MergeLinears, ParallelOnesOfAnyWeightTypesBecomeOneAndSlices) {
  EXPECT_EQ(after(merge_linears, "%q = linear(%x, %w)\n %k = linear(%x, %v)\n %y = add(%q, %k)\n return %y"),
            "%0 = fused_linear(%x, %w, %v) {num_weights=2}\n%1 = slice(%0) {axis=-1, end=8}\n%2 = slice(%0) {axis=-1, begin=8, end=16}\n%y "
            "= add(%1, %2)\n");
}

TEST(MergeLinears, LeavesAlone) {
  EXPECT_FALSE(changes(merge_linears, "%q = linear(%x, %w)\n %k = linear(%r, %v)\n %y = add(%q, %k)\n return %y")) << "other inputs";
  EXPECT_FALSE(changes(merge_linears, "%q = linear(%x, %w, %b)\n %k = linear(%x, %v)\n %y = add(%q, %k)\n return %y")) << "one has a bias";
  EXPECT_FALSE(
      changes(merge_linears, "%q = linear(%x, %w)\n %c = cast(%v) {dtype=f16}\n %k = linear(%x, %c)\n %y = add(%q, %k)\n return %y"))
      << "a weight that is made behind the first of them";
}

TEST(FuseLinear, TakesInNormBiasActivationAndResidual) {
  EXPECT_EQ(after(fuse_linear,
                  "%h = rms_norm(%x, %n) {eps=0.5}\n %l = linear(%h, %w)\n %m = add(%l, %b)\n %s = gelu(%m) {tanh=true}\n %y = add(%r, "
                  "%s)\n return %y"),
            "%0 = fused_linear(%x, %n, %w, %b, %r) {norm=rms, eps=0.5, bias=true, activation=gelu_tanh, residual=true}\n");
}

TEST(FuseLinear, LeavesAlone) {
  EXPECT_FALSE(changes(fuse_linear, "%l = linear(%u, %w)\n input %s : f32[8, 8]\n %y = add(%s, %l)\n return %y"))
      << "a product known at load";
  EXPECT_FALSE(changes(fuse_linear, "%l = linear(%x, %w)\n %y = add(%l, %r)\n return %y, %l")) << "a marked product";
  EXPECT_FALSE(changes(fuse_linear, "%l = linear(%x, %w)\n %y = add(%l, %l)\n return %y")) << "a sum with itself";
  EXPECT_FALSE(changes(fuse_linear, " param %c : f32[16]\n %l = fused_linear(%x, %w, %u) {num_weights=2}\n %y = add(%l, %c)\n return %y"))
      << "one bias for two matrices";
  EXPECT_FALSE(changes(fuse_linear, " input %h : f16[tokens, 8]\n %l = linear(%h, %w)\n %y = add(%l, %b)\n return %y"))
      << "a bias that widens the sum";
  EXPECT_FALSE(changes(fuse_linear, "%h = rms_norm(%x, %n)\n %l = linear(%h, %w)\n return %l, %h")) << "a marked norm";
  EXPECT_FALSE(changes(fuse_linear, "%h = rms_norm(%x, %n)\n %l = linear(%h, %w)\n %k = silu(%h)\n return %l, %k"))
      << "another reader of the norm";
}

TEST(FuseAddNorm, TheSumSurvivesForOtherReadersAndAsAnOutput) {
  EXPECT_EQ(after(fuse_add_norm, "%s = add(%x, %r)\n %y = rms_norm(%s, %n)\n return %y, %s"), "%0, %1 = add_rms_norm(%x, %r, %n)\n");
  EXPECT_EQ(after(fuse_add_norm, "%s = add(%x, %r)\n %y = layer_norm(%s, %n, %b) {eps=0.5}\n return %y"),
            "%0, %1 = add_layer_norm(%x, %r, %n, %b) {eps=0.5}\n");
  EXPECT_FALSE(changes(fuse_add_norm, " input %m : f32[8]\n %s = add(%x, %r)\n %y = rms_norm(%s, %m)\n return %y"))
      << "a weight that may not be there where the sum stands";
  EXPECT_FALSE(changes(fuse_add_norm, "%s = add(%x, %b)\n %y = rms_norm(%s, %n)\n return %y")) << "a broadcast sum";
}

constexpr char kAttention[] = R"(
  input %o : i32[sequences+1]
  input %p : i32[tokens]
  param %f : f32[2]
  %t = rope_table(%p, %f)
  %q = rope(%x, %t) {head_dim=4}
  %k = rope(%r, %t) {head_dim=4}
  %y = attention(%q, %k, %x, %o) {heads=2, kv_heads=2, head_dim=4}
  return %y)";

TEST(UseKvCache, CausalAttentionReadsAndWritesAState) {
  Graph graph = parse(kAttention);
  use_kv_cache(graph, {.kv_cache = true});
  graph.verify();
  EXPECT_NE(nodes(graph).find("kv_write(%kv.0, %k, %x, %slots)"), std::string::npos) << nodes(graph);
  EXPECT_NE(nodes(graph).find("paged_attention(%q,"), std::string::npos);
  EXPECT_TRUE(graph.find(Leaf::kState, "kv.0"));
  fuse_qkv_post(graph, {});
  graph.verify();
  EXPECT_NE(nodes(graph).find("qkv_post(%kv.0, %x, %r, %x, %t, %slots) {heads=2, kv_heads=2, head_dim=4}"), std::string::npos)
      << nodes(graph);
  EXPECT_EQ(nodes(graph).find("= rope("), std::string::npos);
}

TEST(FuseQkvPost, LeavesQAndKThatAreTreatedInDifferentWays) {
  const std::string rope = "rope(%r, %t) {head_dim=4}";
  for (const char* other : {"rope(%r, %t) {head_dim=4, interleaved=true}", "rope(%r, %t2) {head_dim=4}", "silu(%r)"}) {
    std::string body = std::string("\n  input %t2 : f32[tokens, 4]") + kAttention;
    body.replace(body.find(rope), rope.size(), other);
    Graph graph = parse(body);
    use_kv_cache(graph, {.kv_cache = true});
    const std::string before = nodes(graph);
    fuse_qkv_post(graph, {});
    EXPECT_EQ(nodes(graph), before) << other;
  }
}

TEST(FuseQkvPost, TakesInHeadNormsOfOneEpsilon) {
  const auto fused = [](const std::string& k_eps) {
    Graph graph = parse(fmt::format(R"(
  input %o : i32[sequences+1]
  input %t : f32[tokens, 4]
  param %m : f32[4]
  %q0 = view(%x) {{shape=[tokens, 2, 4]}}
  %q1 = rms_norm(%q0, %m) {{eps=0.5}}
  %q2 = view(%q1) {{shape=[tokens, 8]}}
  %q = rope(%q2, %t) {{head_dim=4}}
  %k0 = view(%r) {{shape=[tokens, 2, 4]}}
  %k1 = rms_norm(%k0, %m) {{eps={}}}
  %k2 = view(%k1) {{shape=[tokens, 8]}}
  %k = rope(%k2, %t) {{head_dim=4}}
  %y = attention(%q, %k, %x, %o) {{heads=2, kv_heads=2, head_dim=4}}
  return %y)",
                                    k_eps));
    use_kv_cache(graph, {.kv_cache = true});
    fuse_qkv_post(graph, {});
    graph.verify();
    return nodes(graph);
  };
  EXPECT_NE(fused("0.5").find("qkv_post(%kv.0, %x, %r, %x, %t, %slots, %m, %m) {heads=2, kv_heads=2, head_dim=4, qk_norm=true, eps=0.5}"),
            std::string::npos)
      << fused("0.5");
  EXPECT_EQ(fused("0.25").find("qkv_post"), std::string::npos) << fused("0.25");
}

TEST(UseKvCache, LeavesEncodersAndUncachedRunsAlone) {
  EXPECT_FALSE(changes(use_kv_cache, kAttention)) << "no cache was asked for";
  std::string body = kAttention;
  body.replace(body.find("head_dim=4}\n  return"), 11, "head_dim=4, causal=false}");
  Graph graph = parse(body);
  const std::string before = nodes(graph);
  use_kv_cache(graph, {.kv_cache = true});
  EXPECT_EQ(nodes(graph), before);
}

TEST(Compile, MarkedValuesSurviveEveryPass) {
  Graph graph =
      parse("%h = rms_norm(%x, %n)\n %l = linear(%h, %w)\n %s = silu(%l)\n %y = add(%s, %r)\n return %y, %s as \"inner\", %h as \"norm\"");
  compile(graph);
  ASSERT_EQ(graph.outputs().size(), 3u);
  EXPECT_EQ(graph.outputs()[1].name, "inner");
  EXPECT_NE(nodes(graph).find("rms_norm"), std::string::npos) << "the norm is an output and so no part of a linear";
}

TEST(Compile, PassesCanBeSkippedByNameAndUnknownNamesAreErrors) {
  const std::string body = "%h = rms_norm(%x, %n)\n %l = linear(%h, %w)\n return %l";
  Graph graph = parse(body);
  std::vector<std::string> seen;
  compile(graph,
          {.skip_passes = {"fuse-linear"}, .observer = [&](const std::string& pass, const Graph&, double) { seen.push_back(pass); }});
  EXPECT_EQ(nodes(graph), nodes(parse(body)));
  EXPECT_EQ(seen.size() + 1, pass_names().size());
  EXPECT_THROW(compile(graph, {.skip_passes = {"no-such-pass"}}), Error);
}

TEST(SelectRowsEarly, RowsAreChosenBeforeTheOpsThatMakeThem) {
  EXPECT_EQ(after(select_rows_early,
                  " input %rows : i32[wanted]\n %a = add(%x, %r)\n %l = linear(%a, %w)\n %s = silu(%l)\n %y = add(%s, %a)\n"
                  " %z = index_select(%y, %rows)\n return %z"),
            "%0 = index_select(%x, %rows)\n%1 = index_select(%r, %rows)\n%2 = add(%0, %1)\n%3 = linear(%2, %w)\n%4 = silu(%3)\n%5 = "
            "add(%4, %2)\n");
}

TEST(SelectRowsEarly, TwoSelectionsOfTheSameRowsAreOneAndASelectionOfASelectionMovesToo) {
  EXPECT_EQ(after(select_rows_early,
                  " input %rows : i32[wanted]\n %a = silu(%x)\n %c = index_select(%a, %rows)\n %d = index_select(%a, %rows)\n"
                  " %y = add(%c, %d)\n return %y"),
            "%0 = index_select(%x, %rows)\n%1 = silu(%0)\n%y = add(%1, %1)\n");
  EXPECT_EQ(after(select_rows_early,
                  " input %rows : i32[wanted]\n input %few : i32[few]\n %a = silu(%x)\n %c = index_select(%a, %rows)\n"
                  " %y = index_select(%c, %few)\n return %y"),
            "%0 = index_select(%x, %rows)\n%1 = index_select(%0, %few)\n%2 = silu(%1)\n");
  EXPECT_FALSE(changes(select_rows_early,
                       " input %rows : i32[wanted]\n input %few : i32[wanted]\n %a = silu(%x)\n %c = index_select(%a, %rows)\n"
                       " %d = index_select(%a, %few)\n %y = add(%c, %d)\n return %y"))
      << "other rows";
  EXPECT_FALSE(changes(select_rows_early,
                       " input %rows : i32[8]\n %a = silu(%x)\n %c = index_select(%a, %rows)\n %d = index_select(%a, %rows) {axis=1}\n"
                       " return %c, %d"))
      << "columns as well";
}

TEST(SelectRowsEarly, RowsMustBeKnownWhereTheNodeStands) {
  const std::string made = " input %half : i32[wanted]\n", rows = " %rows = add(%half, %half)\n";
  const std::string a = " %a = silu(%x)\n", select = " %z = index_select(%a, %rows)\n return %z";
  EXPECT_TRUE(changes(select_rows_early, made + rows + a + select));
  EXPECT_FALSE(changes(select_rows_early, made + a + rows + select));
}

TEST(Passes, TakeTimeThatGrowsWithTheGraphAlone) {  // quadratic code would be noticed here
  std::string body = " input %rows : i32[wanted]\n", value = "%x";
  for (int i = 0; i < 8000; ++i) {
    const std::string n = std::to_string(i);
    body += fmt::format(" %n{0} = rms_norm({1}, %n)\n %l{0} = linear(%n{0}, %w)\n %b{0} = add(%l{0}, %b)\n %y{0} = add(%b{0}, {1})\n", n,
                        value);
    value = "%y" + n;
  }
  Graph graph = parse(body + " %z = index_select(" + value + ", %rows)\n return %z");
  compile(graph);
  EXPECT_EQ(graph.num_nodes(), 8001) << "a fused_linear for each layer, and one selection of the first one's rows";
}

TEST(SelectRowsEarly, WhatIsWantedWholeOrMixesRowsIsLeftAlone) {
  const std::string rows = " input %rows : i32[wanted]\n", select = " %z = index_select(%a, %rows)\n return %z";
  EXPECT_FALSE(changes(select_rows_early, rows + " %a = silu(%x)\n" + select + "\n return %a")) << "an output";
  EXPECT_FALSE(changes(select_rows_early, rows + " %a = silu(%x)\n %c = relu(%a)\n" + select + "\n return %c")) << "another reader";
  EXPECT_FALSE(changes(select_rows_early, rows + " %a = softmax(%x) {axis=0}\n" + select)) << "rows that depend on each other";
  EXPECT_FALSE(changes(select_rows_early, rows + " %a = silu(%x)\n %z = index_select(%a, %rows) {axis=1}\n return %z")) << "columns";
  EXPECT_FALSE(changes(select_rows_early, rows + " %a = silu(%w)\n" + select)) << "known at load";
}

// The bodies of the graph's regions, nodes only.
std::string bodies(const std::string& body) {
  Graph graph = parse(body);
  form_regions(graph, {});
  graph.verify();
  std::string out;
  for (const Node* node : graph.nodes()) {
    if (node->op().name != "region") continue;
    for (const Node* inner : node->attributes_as<Region>().body.graph().nodes()) out += to_text(*inner) + "; ";
    out += "=> ";
    for (const Value& result : node->outputs()) out += result.name() + " ";
  }
  return out;
}

TEST(FormRegions, ChainsAndTreesOfPointwiseOpsAreOneNode) {
  EXPECT_EQ(bodies("%a = add(%x, %b)\n %c = tanh(%r)\n %y = mul(%a, %c)\n return %y"),
            "%0 = add(%x, %b); %1 = tanh(%r); %2 = mul(%0, %1); => y ");
  EXPECT_FALSE(changes(form_regions, "%y = tanh(%x)\n return %y")) << "a node alone";
  EXPECT_FALSE(changes(form_regions, "%a = exp(%w)\n %y = tanh(%a)\n return %y")) << "known at load";
}

TEST(FormRegions, TakeInReductionsAndWhatFollowsThem) {
  EXPECT_EQ(bodies("%e = exp(%x)\n %s = sum(%e) {axes=[-1], keepdim=true}\n %y = div(%e, %s)\n return %y"),
            "%0 = exp(%x); %1 = sum(%0) {axes=[-1], keepdim=true}; %2 = div(%0, %1); => y ");
  EXPECT_EQ(bodies("%e = exp(%x)\n %s = sum(%e) {axes=[0], keepdim=true}\n %y = div(%e, %s)\n return %y"), "") << "another axis";
  EXPECT_EQ(bodies("%e = exp(%x)\n %s = sum(%e) {axes=[-1]}\n %y = tanh(%s)\n return %y"), "") << "the axis goes";
}

TEST(FormRegions, SpellOutANormBesideOtherOps) {
  EXPECT_EQ(
      bodies("%m = rms_norm(%x, %n) {eps=0.5}\n %y = tanh(%m)\n return %y"),
      "%0 = square(%x); %1 = mean(%0) {axes=[-1], keepdim=true}; %3 = add(%1, %2); %4 = rsqrt(%3); %5 = mul(%x, %4); %6 = mul(%5, %n); "
      "%7 = tanh(%6); => y ");
  EXPECT_FALSE(changes(form_regions, "%y = rms_norm(%x, %n)\n return %y")) << "which has its kernel";
}

TEST(FormRegions, OperandsMayHaveNumbersForNames) {
  const std::string text =
      bodies("%m = rms_norm(%x, %n)\n %3 = linear(%r, %w)\n %4 = linear(%x, %w)\n %a = add(%m, %3)\n %y = mul(%a, %4)\n return %y");
  EXPECT_NE(text.find("square(%x)"), std::string::npos) << text;
  EXPECT_NE(text.find("=> y "), std::string::npos) << text;
}

TEST(FormRegions, LeaveValuesThatDoNotBroadcastToOneShapeApart) {
  EXPECT_EQ(bodies(" input %i : f32[1, 2]\n input %j : f32[3]\n %s = sum(%i) {axes=[1], keepdim=true}\n %y = add(%j, %s)\n return %y"), "");
}

TEST(FormRegions, ANormAndTheQuantizationThatFollowsAreOneNode) {
  const std::string text =
      bodies(" input %s : f32[tokens, 1]\n input %z : f32[tokens, 8]\n %m = rms_norm(%x, %n)\n %q = quantize(%m, %s)\n return %q");
  EXPECT_NE(text.find("round("), std::string::npos) << text;
  EXPECT_NE(text.find("cast("), std::string::npos) << text;
  EXPECT_EQ(bodies(" input %i : i8[tokens, 8]\n input %s : f32[]\n %d = dequantize(%i, %s)\n %y = add(%d, %x)\n return %y"),
            "%0 = cast(%i); %1 = mul(%0, %s); %2 = add(%1, %x); => y ");
}

TEST(FormRegions, MarkedAndSharedValuesAreResultsToo) {
  EXPECT_EQ(bodies("%a = add(%x, %r)\n %y = tanh(%a)\n return %y, %a"), "%0 = add(%x, %r); %1 = tanh(%0); => a y ");
  EXPECT_EQ(bodies("%a = add(%x, %r)\n %y = tanh(%a)\n %z = linear(%a, %w)\n return %y, %z"), "%0 = add(%x, %r); %1 = tanh(%0); => a y ");
}

TEST(FormRegions, NothingOutsideStandsBetweenTheirNodes) {
  // %z must be there before %y, and %a before %z: no region may hold both %a and %y.
  EXPECT_EQ(bodies("%a = add(%x, %r)\n %z = linear(%a, %w)\n %y = mul(%a, %z)\n return %y"), "");
  EXPECT_EQ(bodies("%a = add(%x, %r)\n %c = neg(%a)\n %z = linear(%c, %w)\n %t = tanh(%z)\n %y = mul(%a, %t)\n return %y"),
            "%0 = add(%x, %r); %1 = neg(%0); => a c %0 = tanh(%z); %1 = mul(%a, %0); => y ");
}

TEST(FormRegions, ValuesSmallerThanTheRestAreNotComputedAgainForEachRow) {
  EXPECT_EQ(bodies(" input %i : f32[8]\n %a = exp(%i)\n %y = mul(%x, %a)\n return %y"), "");
  EXPECT_EQ(bodies(" input %i : f32[tokens, 1]\n %a = exp(%i)\n %y = mul(%x, %a)\n return %y"), "%0 = exp(%i); %1 = mul(%x, %0); => y ");
}

TEST(FormRegions, LeaveOtherTypesAndOpsAlone) {
  EXPECT_EQ(bodies(" input %p : bool[tokens, 8]\n %a = logical_and(%p, %p)\n %y = remainder(%a, %p)\n return %y"), "");
  EXPECT_EQ(bodies(" input %i : i64[tokens, 8]\n %a = neg(%i)\n %y = abs(%a)\n return %y"), "");
  EXPECT_EQ(bodies("%l = linear(%x, %w)\n %y = linear(%l, %w)\n return %y"), "");
}

TEST(Compile, ExtraPassesRunWhereTheyWereAskedFor) {
  const auto extra = [](ExtraPass::Place place, const char* anchor, const char* name) {
    return ExtraPass{place, anchor, {name, [](Graph&, const CompileOptions&) {}}};
  };
  CompileOptions options;
  options.extra_passes = {extra(ExtraPass::Place::kBefore, "canonicalize", "first"), extra(ExtraPass::Place::kAfter, "canonicalize", "a"),
                          extra(ExtraPass::Place::kAfter, "canonicalize", "b"), extra(ExtraPass::Place::kAfter, "a", "a2")};
  std::vector<std::string> seen;
  options.observer = [&](const std::string& pass, const Graph&, double) { seen.push_back(pass); };
  Graph graph = parse("%y = silu(%x)\n return %y");
  compile(graph, options);
  EXPECT_EQ(seen, pass_names(options));
  seen.resize(6);
  EXPECT_EQ(seen, (std::vector<std::string>{"mark", "first", "canonicalize", "a", "a2", "b"}));

  options.extra_passes.push_back(extra(ExtraPass::Place::kAfter, "canonicalize", "a"));
  EXPECT_THROW(compile(graph, options), Error) << "a taken name";
  options.extra_passes.back() = extra(ExtraPass::Place::kAfter, "no-such-pass", "c");
  EXPECT_THROW(compile(graph, options), Error) << "no such place";
}

TEST(Compile, AnExtraPassThatBreaksTheGraphIsNamed) {
  CompileOptions options;
  options.extra_passes = {{ExtraPass::Place::kBefore, "canonicalize", {"reverse", [](Graph& graph, const CompileOptions&) {
                                                                         std::vector<Node*> nodes = graph.nodes();
                                                                         graph.set_input(*nodes.front(), 0, nodes.back()->output());
                                                                       }}}};
  Graph graph = parse("%a = silu(%x)\n %y = relu(%a)\n return %y");
  try {
    compile(graph, options);
    FAIL() << "a cycle went unnoticed";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("pass 'reverse': 'y' cannot be read by %a = silu(%x): it is produced later"), std::string::npos)
        << e.what();
  }
}

TEST(Compile, CompilingTwiceChangesNothingMore) {
  Graph graph = parse("%h = rms_norm(%x, %n)\n %l = linear(%h, %w)\n %s = silu(%l)\n %y = add(%s, %r)\n return %y");
  compile(graph);
  const std::string once = graph.to_text();
  compile(graph);
  EXPECT_EQ(graph.to_text(), once);
}

}  // namespace
}  // namespace headrace
