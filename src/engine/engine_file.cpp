// Engines on disk: one safetensors file, which any safetensors reader can open.
//   metadata  headrace.format ("1"), headrace.version, engine (JSON: kind, vocab_size, max_positions, exact, config, generation,
//             pooling, text_name, plugins, weights), program (text), tactics (JSON, where there are some)
//   tensors   headrace/text/NAME: tokenizer and template files as bytes; and with embedded weights one tensor for each under its
//             checkpoint name. Block types are stored as bytes; "weights" in the JSON has every weight's type and sizes
// With linked weights that JSON also says where in which file each tensor is, and a fingerprint of each file.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/context.h"
#include "core/dtype.h"
#include "core/json.h"
#include "core/mapped_file.h"
#include "engine/check_program.h"
#include "engine/inspect.h"
#include "engine/linked_weights.h"
#include "engine/refit.h"
#include "engine/tactics.h"
#include "headrace/engine.h"
#include "plugin/parts.h"
#include "weights/folder.h"
#include "weights/safetensors.h"
#include "weights/safetensors_writer.h"
#include "weights/text_files.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr char kFormatKey[] = "headrace.format", kTacticsKey[] = "tactics";
constexpr int64_t kFormat = 1;
constexpr std::string_view kTextPrefix = "headrace/text/";

// Whether the name of the checkpoint's folder may be what tells how its tokenizer cuts text. Where it cannot, it is not written: the same
// weights and tokenizer make the same file, wherever they lie.
bool name_tells_tokenizer(const TextFiles& text) { return !text.empty() && !text.find("tokenizer.json") && !text.find(kGgufVocabulary); }

std::vector<std::string> parameters_of(const Graph& program) {
  std::vector<std::string> names;
  for (const Value& p : program.leaves(Leaf::kParameter)) names.push_back(p.name());
  return names;
}

Json describe(const StoredType& type) {
  return {{"dtype", name(type.dtype)}, {"sizes", std::vector<int64_t>(type.sizes.begin(), type.sizes.end())}};
}

StoredType stored_type(const Json& json, const std::string& where) {
  const auto dtype_name = require<std::string>(json, "dtype", where);
  const std::optional<DType> dtype = parse_dtype(dtype_name);
  if (!dtype) fail(ErrorCode::kUnsupported, "{}: element type '{}' is not known", where, printable(dtype_name));
  const auto sizes = require<std::vector<int64_t>>(json, "sizes", where);
  if (sizes.size() > size_t(kMaxRank) || !checked_bytes(*dtype, sizes)) invalid("{}: impossible sizes", where);
  return {*dtype, Sizes(sizes)};
}

// Block types have no name in safetensors: their bytes are stored, and the type is in the engine's JSON.
Tensor as_stored(const Tensor& t) { return is_block(t.dtype) ? Tensor::contiguous(t.data, DType::kU8, {t.bytes()}) : t; }

// Weights that are in the engine itself.
class EmbeddedWeights : public WeightSource {
 public:
  EmbeddedWeights(std::shared_ptr<const SafetensorsFile> file, std::map<std::string, StoredType> types)
      : file_(std::move(file)), types_(std::move(types)) {}
  std::string describe() const override { return file_->where(); }
  std::vector<std::string> names() const override { return keys_of(types_); }
  std::optional<StoredType> find(const std::string& name) const override {
    const auto it = types_.find(name);
    return it == types_.end() ? std::nullopt : std::optional(it->second);
  }
  Tensor read(const std::string& name) const override {
    const auto it = types_.find(name);
    if (it == types_.end()) fail_no_tensor(*this, name);
    return Tensor::contiguous(file_->find(name)->data.data(), it->second.dtype, it->second.sizes);
  }
  void release(const std::string& name) const override {
    if (const SafetensorsTensor* t = file_->find(name)) file_->release(*t);
  }
  std::optional<FileRange> locate(const std::string& name) const override {
    const SafetensorsTensor* t = file_->find(name);
    if (!t) return std::nullopt;
    return FileRange{file_->where(), file_->offset_of(*t), t->data.size()};
  }

 private:
  std::shared_ptr<const SafetensorsFile> file_;
  std::map<std::string, StoredType> types_;
};

std::shared_ptr<const WeightSource> read_embedded(const std::shared_ptr<const SafetensorsFile>& file, const Json& weights) {
  std::map<std::string, StoredType> types;
  for (const auto& [name, json] : weights.items()) {
    const std::string where = file->where() + ": weight '" + printable(name) + "'";
    const StoredType type = stored_type(json, where);
    const SafetensorsTensor* tensor = file->find(name);
    if (!tensor) invalid("{}: missing from the file", where);
    const Tensor shape = Tensor::contiguous(nullptr, type.dtype, type.sizes);
    if (int64_t(tensor->data.size()) != shape.bytes())
      invalid("{}: has {} bytes, {} are wanted", where, tensor->data.size(), shape.bytes());
    if (!is_aligned(tensor->data.data(), type.dtype))
      invalid("{}: is at byte {}, where no {} can be read in place; build the engine again", where, file->offset_of(*tensor),
              headrace::name(type.dtype));
    types.emplace(name, type);
  }
  return std::make_shared<EmbeddedWeights>(file, std::move(types));
}

std::shared_ptr<const WeightSource> read_linked(const std::string& engine_path, const Json& engine) {
  const std::string where = engine_path + ": linked weights";
  std::map<std::string, std::string> paths;  // as written -> as found
  const Json files = require<Json>(engine, "files", where);
  for (const auto& [written, fingerprint] : files.items()) {
    std::string found = written;
    if (!is_there(found)) found = (fs::path(engine_path).parent_path() / fs::path(written).filename()).string();
    if (!is_there(found))
      fail(ErrorCode::kNotFound, "{}: '{}' is gone, and it is not beside the engine either; put it back or build the engine again", where,
           printable(written, 200));
    if (!fingerprint.is_string() || file_fingerprint(found) != fingerprint.get<std::string>())
      invalid("{}: '{}' is not the file that the engine was built from; build the engine again", where, printable(found, 200));
    paths[written] = found;
  }
  std::map<std::string, WeightLink> links;
  const Json weights = require<Json>(engine, "weights", where);
  for (const auto& [name, json] : weights.items()) {
    WeightLink link{stored_type(json, where), {}};
    const auto written = require<std::string>(json, "file", where);
    if (!paths.count(written)) invalid("{}: '{}' names a file that is not listed", where, printable(name));
    link.range = {paths.at(written), require<uint64_t>(json, "offset", where), require<uint64_t>(json, "bytes", where)};
    links.emplace(name, std::move(link));
  }
  return linked_weights(std::move(links));
}

// Before the program is parsed, whose ops would not be known.
void require_plugins(const Json& engine, const Plugins* plugins, const std::string& where) {
  std::vector<std::string> missing;
  for (const std::string& name : find_or<std::vector<std::string>>(engine, "plugins", {}, where)) {
    const auto is_loaded = [&](const PluginInfo& plugin) { return plugin.name == name; };
    if (!plugins || std::none_of(plugins->list().begin(), plugins->list().end(), is_loaded)) missing.push_back(printable(name));
  }
  if (!missing.empty())
    fail(ErrorCode::kNotFound, "{}: needs the plugin{} {}, not loaded; name the shared library: --plugin FILE, HEADRACE_PLUGINS=FILE",
         where, missing.size() == 1 ? "" : "s", fmt::join(missing, ", "));
}

constexpr std::string_view kModeNames[] = {"embed", "link", "none"};

// How every file that write_engine has written begins, after the header's length: the keys of metadata are sorted.
constexpr std::string_view kBeginning = "{\"__metadata__\":{\"engine\":\"";

std::string text_of(const Json& description, const std::string& path) {
  try {
    return description.dump();
  } catch (const Json::type_error&) {
    invalid("{}: cannot be written: the model's configuration or a weight's name is not valid UTF-8", path);
  }
}

}  // namespace

void write_engine(const Engine& engine, const std::string& path, WeightsMode mode) {
  const std::vector<std::string> parameters = parameters_of(engine.program);
  if (mode != WeightsMode::kNone) require_weights(engine);
  Json weights = Json::object(), files = Json::object();
  std::vector<SafetensorsWriter::Item> items;
  for (const std::string& name : mode == WeightsMode::kNone ? std::vector<std::string>() : parameters) {
    const StoredType type = engine.weights->find(name).value();
    weights[name] = describe(type);
    if (mode == WeightsMode::kEmbed) {
      const Tensor stored = as_stored(Tensor::contiguous(nullptr, type.dtype, type.sizes));
      // Block types first among what is stored as bytes: their sizes are even, so each is aligned.
      items.insert(is_block(type.dtype) ? items.begin() : items.end(), {name, stored.dtype, stored.sizes});
      continue;
    }
    const std::optional<FileRange> range = engine.weights->locate(name);
    if (!range) invalid("{}: weight '{}' is not in a file and cannot be linked; embed the weights", engine.origin, name);
    const std::string file = fs::absolute(range->path).lexically_normal().string();
    if (!files.contains(file)) files[file] = file_fingerprint(file);
    weights[name].update({{"file", file}, {"offset", range->offset}, {"bytes", range->bytes}});
  }
  for (const auto& [name, file] : engine.text.files)
    items.push_back({std::string(kTextPrefix) + name, DType::kU8, {int64_t(file.bytes.size())}});

  const auto parsed = [&](const std::string& json, const char* what) {
    return parse_json(json, fmt::format("{}: cannot be written: the engine's {}", path, what));
  };
  Json description = {{"kind", name(engine.kind)},
                      {"vocab_size", engine.vocab_size},
                      {"max_positions", engine.max_positions},
                      {"exact", engine.exact},
                      {"config", parsed(engine.config, "config")},
                      {"generation", parsed(engine.generation, "generation")},
                      {"pooling", parsed(engine.pooling, "pooling")},
                      {"plugins", plugins_of(engine.program)},
                      {"weights_mode", kModeNames[int(mode)]},
                      {"weights", std::move(weights)},
                      {"files", std::move(files)}};
  if (name_tells_tokenizer(engine.text)) description["text_name"] = engine.text.name;
  std::map<std::string, std::string> metadata = {{kFormatKey, std::to_string(kFormat)},
                                                 {"headrace.version", std::string(version())},
                                                 {"engine", text_of(description, path)},
                                                 {"program", engine.program.to_text()}};
  if (!engine.tactics.empty())
    metadata[kTacticsKey] = with_context(path + ": cannot be written", [&] { return with_checksum(engine.tactics); });
  SafetensorsWriter writer(path, items, metadata);
  if (mode == WeightsMode::kEmbed)
    for (const std::string& name : parameters) {
      writer.write(name, as_stored(engine.weights->read(name)));
      engine.weights->release(name);
    }
  for (const auto& [name, file] : engine.text.files)
    writer.write(std::string(kTextPrefix) + name, Tensor::contiguous(file.bytes.data(), DType::kU8, {int64_t(file.bytes.size())}));
  writer.commit();
}

bool is_engine_file(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || path.ends_with(".gguf") || path.ends_with(".json")) return false;
  try {
    // By its beginning or the key alone: what is cut short or damaged elsewhere is an engine still, and read_engine says what is wrong with
    // it.
    const auto file = MappedFile::open(path);
    const std::string_view text = file->text();
    uint64_t header_bytes = 0;
    if (text.size() < sizeof header_bytes + 1 || text[sizeof header_bytes] != '{') return false;
    std::memcpy(&header_bytes, text.data(), sizeof header_bytes);
    if (text.substr(sizeof header_bytes).starts_with(kBeginning)) return true;
    return text.substr(sizeof header_bytes, header_bytes).find(fmt::format("\"{}\"", kFormatKey)) != std::string_view::npos;
  } catch (const Error&) {
    return false;
  }
}

namespace {

TextFiles text_of(const std::shared_ptr<const SafetensorsFile>& file, const Json& engine, const std::string& path) {
  TextFiles text{.name = find_or<std::string>(engine, "text_name", folder_name(path), path + ": engine"), .files = {}};
  for (const SafetensorsTensor& t : file->tensors())
    if (t.name.starts_with(kTextPrefix))
      text.files[t.name.substr(kTextPrefix.size())] = {{reinterpret_cast<const char*>(t.data.data()), t.data.size()}, file};
  return text;
}

Engine read(const std::string& path, const ReadOptions& options) {
  const auto file = std::make_shared<const SafetensorsFile>(SafetensorsFile::open(path));
  const auto entry = [&](const char* key) -> const std::string& {
    const auto it = file->metadata().find(key);
    if (it == file->metadata().end()) invalid("{}: is no engine: its metadata lack '{}'", path, key);
    return it->second;
  };
  int64_t format = 0;
  detail::from_text(entry(kFormatKey), format);
  if (format < 1 || format > kFormat)
    fail(ErrorCode::kUnsupported, "{}: engine format {} (written by Headrace {}); this is Headrace {}, which reads up to format {}", path,
         format, file->metadata().count("headrace.version") ? printable(entry("headrace.version")) : "?", version(), kFormat);
  const Json json = parse_json(entry("engine"), path + ": engine");
  const std::string where = path + ": engine";
  require_plugins(json, options.plugins.get(), path);
  Engine engine{.origin = path, .program = Graph::parse(entry("program"), ops_of(options.plugins.get()))};
  engine.plugins = options.plugins;
  const auto kind = require<std::string>(json, "kind", where);
  if (kind == name(ModelKind::kEncoder)) engine.kind = ModelKind::kEncoder;
  else if (kind != name(ModelKind::kDecoder)) invalid("{}: kind '{}' is neither decoder nor encoder", where, printable(kind));
  check_program(engine.program, where);
  engine.vocab_size = require<int64_t>(json, "vocab_size", where);
  engine.max_positions = require<int64_t>(json, "max_positions", where);
  if (engine.vocab_size < 1 || engine.vocab_size > INT32_MAX || engine.max_positions < 1 || engine.max_positions > INT32_MAX)
    invalid("{}: impossible vocabulary or context size", where);
  engine.exact = require<bool>(json, "exact", where);
  engine.config = json.value("config", Json()).dump();
  engine.generation = json.value("generation", Json()).dump();
  engine.pooling = json.value("pooling", Json()).dump();
  engine.text = text_of(file, json, path);
  if (const auto tactics = file->metadata().find(kTacticsKey); tactics != file->metadata().end())
    engine.tactics = without_checksum(tactics->second, path);
  const auto mode = require<std::string>(json, "weights_mode", where);
  if (std::ranges::find(kModeNames, mode) == std::end(kModeNames)) invalid("{}: weights_mode '{}' is not known", where, printable(mode));
  if (!options.weights) return engine;
  if (mode == "embed") engine.weights = read_embedded(file, require<Json>(json, "weights", where));
  if (mode == "link") engine.weights = read_linked(path, json);
  return engine;
}

}  // namespace

Engine read_engine(const std::string& path, const ReadOptions& options) {
  return with_context(path, [&] { return read(path, options); });
}

TextFiles read_engine_text(const std::string& path) {
  return with_context(path, [&] {
    const auto file = std::make_shared<const SafetensorsFile>(SafetensorsFile::open(path));
    const auto engine = file->metadata().find("engine");
    if (engine == file->metadata().end()) invalid("{}: is no engine: its metadata lack 'engine'", path);
    return text_of(file, parse_json(engine->second, path + ": engine"), path);
  });
}

}  // namespace headrace
