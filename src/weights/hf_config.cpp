#include "weights/hf_config.h"

#include "weights/folder.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

void rename_key(Json& object, const char* from, const char* to) {
  if (!object.contains(from)) return;
  if (!object.contains(to)) object[to] = object[from];
  object.erase(from);
}

// transformers 5 spells numbers that JSON lacks as {"__float__": "Infinity"}. Depth is bounded by the parser's limit.
void replace_spelt_floats(Json& value) {
  if (value.is_object() && value.size() == 1 && value.contains("__float__")) {
    const std::string text = value["__float__"].is_string() ? value["__float__"].get<std::string>() : std::string();
    value = text == "Infinity" ? Json(1e308) : text == "-Infinity" ? Json(-1e308) : Json(nullptr);
  } else if (value.is_structured()) {
    for (Json& child : value) replace_spelt_floats(child);
  }
}

void canonicalize_scaling(Json& config) {
  if (!config.contains("rope_scaling") || !config["rope_scaling"].is_object()) return;
  Json& scaling = config["rope_scaling"];
  rename_key(scaling, "type", "rope_type");
  if (scaling.value("rope_type", Json()) == "su") scaling["rope_type"] = "longrope";
  if (scaling.size() == 1 && scaling.value("rope_type", Json()) == "default") scaling = nullptr;
}

// `parameters` is the rope of all layers, or of those with full attention.
void lift_rope(Json& config, Json parameters) {
  for (const char* key : {"rope_theta", "partial_rotary_factor"}) {
    if (!parameters.contains(key)) continue;
    config[key] = parameters[key];
    parameters.erase(key);
  }
  config["rope_scaling"] = parameters.empty() ? Json(nullptr) : parameters;
}

void canonicalize_rope(Json& config) {
  const bool scaled = config.contains("rope_scaling") && config["rope_scaling"].is_object() && !config["rope_scaling"].empty();
  if (scaled) config.erase("rope_parameters");  // the old spelling wins whole, as in transformers 5
  if (config.contains("rope_parameters") && config["rope_parameters"].is_object()) {
    const Json parameters = config["rope_parameters"];
    config.erase("rope_parameters");
    if (parameters.contains("full_attention") && parameters["full_attention"].is_object()) {
      lift_rope(config, parameters["full_attention"]);
      const Json sliding = parameters.value("sliding_attention", Json::object());
      if (sliding.is_object() && sliding.contains("rope_theta")) config["rope_local_base_freq"] = sliding["rope_theta"];
    } else {
      lift_rope(config, parameters);
    }
  }
  canonicalize_scaling(config);
}

// What gguf_config says in keys of our own is never so in a folder, even where a key has the same name: SmolLM2's has "rope_interleaved".
constexpr const char* kOwnKeys[] = {"rope_interleaved", "rope_dimensions", "rope_factors_are_tensors", "linear_weights_out_in",
                                    "rms_norm_weight_has_one"};

void canonicalize(Json& config) {
  for (const char* key : kOwnKeys) config.erase(key);
  rename_key(config, "torch_dtype", "dtype");
  if (config.contains("dtype") && config["dtype"].is_string()) {
    const std::string dtype = config["dtype"].get<std::string>();
    if (dtype.starts_with("torch.")) config["dtype"] = dtype.substr(6);
  }
  rename_key(config, "num_local_experts", "num_experts");
  canonicalize_rope(config);
}

}  // namespace

Json canonical_config(Json config, std::string_view where) {
  if (!config.is_object()) invalid("{}: wanted a JSON object, found {}", where, config.type_name());
  replace_spelt_floats(config);
  canonicalize(config);
  if (config.contains("text_config") && config["text_config"].is_object()) canonicalize(config["text_config"]);
  return config;
}

Json generation_defaults(const Json& config, const Json& generation, std::string_view where) {
  const auto lookup = [&](const char* key) -> Json {
    for (const Json* source : {&generation, &config})
      if (source->is_object() && source->contains(key) && !(*source)[key].is_null()) return (*source)[key];
    return nullptr;
  };
  if (!generation.is_null() && !generation.is_object()) invalid("{}: wanted a JSON object, found {}", where, generation.type_name());
  Json defaults = {{"eos_token_ids", Json::array()}};
  const Json eos = lookup("eos_token_id");
  for (const Json& id : eos.is_array() ? eos : eos.is_null() ? Json::array() : Json::array({eos})) {
    if (!id.is_number_integer()) invalid("{}: eos_token_id holds {}, wanted a token id or a list of them", where, printable(id.dump()));
    defaults["eos_token_ids"].push_back(id);
  }
  for (const char* key :
       {"bos_token_id", "pad_token_id", "do_sample", "temperature", "top_k", "top_p", "min_p", "repetition_penalty", "max_new_tokens"})
    if (const Json value = lookup(key); !value.is_null()) defaults[key] = value;
  return defaults;
}

namespace {

// "mean" of {"pooling_mode_mean_tokens": true, ...}; several are joined with "+", as their vectors are.
std::string pooling_mode(const Json& config, const std::string& where) {
  if (const auto mode = headrace::find<std::string>(config, "pooling_mode", where)) return *mode;
  std::string modes;
  for (const auto& [key, mode] :
       {std::pair("pooling_mode_cls_token", "cls"), std::pair("pooling_mode_max_tokens", "max"),
        std::pair("pooling_mode_mean_tokens", "mean"), std::pair("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len"),
        std::pair("pooling_mode_weightedmean_tokens", "weightedmean"), std::pair("pooling_mode_lasttoken", "lasttoken")})
    if (find_or(config, key, false, where)) modes += (modes.empty() ? "" : "+") + std::string(mode);
  return modes;
}

}  // namespace

Json read_pooling(const std::string& folder) {
  const std::string where = (fs::path(folder) / "modules.json").string();
  if (!is_there(where)) return nullptr;
  const Json modules = read_json_file(where);
  if (!modules.is_array()) invalid("{}: wanted an array of modules, found {}", where, modules.type_name());

  Json pooling = {{"normalize", false}};
  for (const Json& module : modules) {
    const std::string type = find_or<std::string>(module, "type", "", where);
    if (type.ends_with(".Normalize")) pooling["normalize"] = true;
    if (!type.ends_with(".Pooling")) continue;
    const fs::path path = find_or<std::string>(module, "path", "", where);
    if (path.empty() || path != path.filename() || path == "..")
      invalid("{}: '{}' is no plain folder name", where, printable(path.string()));
    const std::string config = (fs::path(folder) / path / "config.json").string();
    pooling["mode"] = pooling_mode(read_json_file(config), config);
  }
  const std::string limits = (fs::path(folder) / "sentence_bert_config.json").string();
  if (is_there(limits))
    if (const auto length = headrace::find<int64_t>(read_json_file(limits), "max_seq_length", limits)) pooling["max_seq_length"] = *length;
  return pooling;
}

}  // namespace headrace
