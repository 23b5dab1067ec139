#include "models/models.h"

#include <gtest/gtest.h>

#include "core/json.h"
#include "headrace/compile.h"
#include "ops/ops.h"

namespace headrace {
namespace {

Json tiny(const std::string& type) {
  if (type == "gpt2") return {{"model_type", type}, {"vocab_size", 50}, {"n_embd", 16}, {"n_layer", 2}, {"n_head", 2}, {"n_positions", 32}};
  Json c = {{"model_type", type},           {"vocab_size", 50},       {"hidden_size", 16},
            {"intermediate_size", 24},      {"num_hidden_layers", 2}, {"num_attention_heads", 4},
            {"max_position_embeddings", 64}};
  if (type != "bert") c["num_key_value_heads"] = 2;
  return c;
}

Graph build(const Json& config) {
  Graph graph(builtin_ops());
  find_model_family(config).build(nn::Scope(graph), config);
  graph.verify();
  return graph;
}

std::string error_of(const Json& config) {
  try {
    build(config);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Models, EveryFamilyBuildsCompilesAndPrints) {
  for (const ModelFamily& family : model_families()) {
    SCOPED_TRACE(family.model_type);
    Graph graph = build(tiny(std::string(family.model_type)));
    compile(graph, {.kv_cache = family.model_type != "bert"});
    EXPECT_EQ(Graph::parse(graph.to_text(), builtin_ops()).to_text(), graph.to_text());
  }
}

TEST(Models, ACompiledLlamaLayerHasSixNodes) {
  const auto nodes_of = [](int layers) {
    Json config = tiny("llama");
    config["num_hidden_layers"] = layers;
    Graph graph = build(config);
    compile(graph, {.kv_cache = true});
    int views = 0;
    for (const Node* n : graph.nodes()) views += n->op().name == "slice";
    return graph.num_nodes() - views;
  };
  EXPECT_EQ(nodes_of(5) - nodes_of(4), 6) << "qkv, its post-processing, attention, output, gate and up, down";
}

TEST(Models, ASlidingWindowReachesTheLayersThatHaveOne) {
  Json config = tiny("qwen2");
  config["use_sliding_window"] = true, config["sliding_window"] = 8, config["max_window_layers"] = 1;
  const std::string text = build(config).to_text();
  EXPECT_NE(text.find("window=8"), std::string::npos);
  EXPECT_EQ(text.find("window=8"), text.rfind("window=8")) << "the second layer only";
  config["use_sliding_window"] = false;
  EXPECT_EQ(build(config).to_text().find("window="), std::string::npos);
}

TEST(Models, BadConfigurationsAreErrorsThatNameTheKey) {
  EXPECT_NE(error_of({{"model_type", "no-such"}}).find("it knows bert, gpt2, llama"), std::string::npos);
  EXPECT_NE(error_of(Json::object()).find("model_type"), std::string::npos);
  const auto with = [](const char* key, Json value) {
    Json c = tiny("llama");
    c[key] = std::move(value);
    return error_of(c);
  };
  EXPECT_NE(with("hidden_size", nullptr).find("hidden_size"), std::string::npos);
  EXPECT_NE(with("hidden_size", "many").find("hidden_size"), std::string::npos);
  EXPECT_NE(with("hidden_size", -5).find("hidden_size"), std::string::npos);
  EXPECT_NE(with("hidden_size", 1e30).find("hidden_size"), std::string::npos);
  EXPECT_NE(with("num_hidden_layers", 2147483647).find("num_hidden_layers"), std::string::npos);
  EXPECT_NE(with("num_key_value_heads", 3).find("share 3"), std::string::npos);
  EXPECT_NE(with("num_attention_heads", 6).find("6"), std::string::npos);
  EXPECT_NE(with("hidden_act", "mish").find("mish"), std::string::npos);
  EXPECT_NE(with("rope_scaling", Json{{"rope_type", "warp"}}).find("warp"), std::string::npos);
  EXPECT_NE(with("rope_scaling", Json{{"rope_type", "llama3"}}).find("factor"), std::string::npos);
  for (const Json& window : {Json(-1), Json(int64_t{1} << 32)}) {
    Json c = tiny("mistral");
    c["sliding_window"] = window;
    EXPECT_NE(error_of(c).find("sliding_window"), std::string::npos) << window;
  }
  for (const Json& no_theta : {Json(-1), Json(0), Json(1e308)})
    EXPECT_NE(with("rope_theta", no_theta).find("theta"), std::string::npos) << no_theta;
  for (const Json& no_object : {Json("linear"), Json(5), Json::array({1}), Json(true)}) {
    EXPECT_NE(with("rope_scaling", no_object).find("'rope_scaling' is"), std::string::npos) << no_object;
    EXPECT_NE(with("rope_parameters", no_object).find("'rope_parameters' is"), std::string::npos) << no_object;
  }
  for (const double no_factor : {0.0, -1.0, 1e308, 1e-300})
    EXPECT_NE(with("rope_scaling", Json{{"type", "linear"}, {"factor", no_factor}}).find("'factor'"), std::string::npos);
  for (const Json& factors : {Json({1.0}), Json({1.0, -1.0}), Json({1.0, "2"}), Json("x")})  // two pairs turn
    EXPECT_NE(with("rope_scaling", Json{{"type", "longrope"}, {"factor", 4.0}, {"short_factor", factors}}).find("'short_factor'"),
              std::string::npos)
        << factors;
  for (const char* key : {"beta_fast", "beta_slow", "attention_factor"})
    EXPECT_NE(with("rope_scaling", Json{{"type", "yarn"}, {"factor", 4.0}, {key, -1.0}}).find(key), std::string::npos);
  EXPECT_NE(with("rope_scaling", Json{{"type", "yarn"}, {"factor", 4.0}, {"rope_theta", 1.0}}).find("above 1"), std::string::npos);
  for (const Json& no_eps : {Json(-1e-6), Json(1e308), Json("x")})
    EXPECT_NE(with("rms_norm_eps", no_eps).find("rms_norm_eps"), std::string::npos) << no_eps;
  EXPECT_NE(with("num_hidden_layers", 2147483647).find("from 1 to 1024"), std::string::npos) << "before any layer is made";
}

}  // namespace
}  // namespace headrace
