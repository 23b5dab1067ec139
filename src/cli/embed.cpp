// headrace embed: a vector for each text, from an encoder.
#include <algorithm>
#include <cmath>

#include "cli/encode.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"

namespace headrace::cli {
namespace {

constexpr size_t kBatchTokens = 2048;

struct EmbedSettings {
  ModelOptions model;
  std::vector<std::string> texts;
  std::string pooling;
  bool normalize = false, json = false;
};

enum class Pooling { kMean, kCls, kLast, kMax };

Pooling parse_pooling(const std::string& text) {
  if (text == "mean") return Pooling::kMean;
  if (text == "cls") return Pooling::kCls;
  if (text == "lasttoken" || text == "last") return Pooling::kLast;
  if (text == "max") return Pooling::kMax;
  fail(ErrorCode::kUnsupported, "pooling '{}' is not known; wanted mean, cls, last or max", printable(text));
}

// `rows`: (tokens, width), one sequence.
std::vector<float> pool(const float* rows, size_t tokens, size_t width, Pooling pooling) {
  if (pooling == Pooling::kCls) return {rows, rows + width};
  if (pooling == Pooling::kLast) return {rows + (tokens - 1) * width, rows + tokens * width};
  std::vector<float> result(width);
  for (size_t i = 0; i < width; ++i) {
    double sum = 0, max = rows[i];
    for (size_t t = 0; t < tokens; ++t) sum += rows[t * width + i], max = std::max<double>(max, rows[t * width + i]);
    result[i] = float(pooling == Pooling::kMean ? sum / double(tokens) : max);
  }
  return result;
}

void normalize(std::vector<float>& vector) {
  double sum = 0;
  for (float x : vector) sum += double(x) * x;
  const double scale = sum > 0 ? 1 / std::sqrt(sum) : 0;
  for (float& x : vector) x = float(x * scale);
}

// At most `limit` tokens; the special tokens at the end stay.
std::vector<int32_t> encode(const Tokenizer& tokenizer, const std::string& text, size_t limit) {
  std::vector<int32_t> ids = tokenizer.encode(text);
  if (ids.size() <= limit) return ids;
  size_t tail = 0;
  while (tail < 4 && tail < limit && tokenizer.is_special(ids[ids.size() - 1 - tail])) ++tail;
  ids.erase(ids.begin() + int64_t(limit - tail), ids.end() - int64_t(tail));
  return ids;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) result.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

int embed(EmbedSettings& s) {
  if (s.texts.empty()) s.texts = lines(read_input());
  if (s.texts.empty()) invalid("there is no text to embed: give -p TEXT or lines on standard input");
  Engine engine = load_engine(s.model.path, s.model.load);
  const ModelText text = load_text(engine);
  if (!text.tokenizer) fail(ErrorCode::kNotFound, "{}: has no tokenizer files; text needs them", s.model.path);
  const Json how = engine.pooling.is_object() ? engine.pooling : Json::object();
  const std::string where = s.model.path + ": pooling";
  const Pooling pooling = parse_pooling(s.pooling.empty() ? find_or<std::string>(how, "mode", "mean", where) : s.pooling);
  const bool normalized = s.normalize || find_or(how, "normalize", false, where);
  const int64_t limit = std::clamp<int64_t>(find_or<int64_t>(how, "max_seq_length", engine.max_positions, where), 1, engine.max_positions);
  EncoderModel model(std::move(engine), s.model.load.num_threads);

  std::vector<std::vector<int32_t>> ids;
  size_t num_tokens = 0;
  for (const std::string& t : s.texts) num_tokens += ids.emplace_back(encode(*text.tokenizer, t, size_t(limit))).size();
  std::vector<std::vector<float>> vectors;
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin, tokens = 0;
    while (end < ids.size() && (end == begin || tokens + ids[end].size() <= kBatchTokens)) tokens += ids[end++].size();
    const std::map<std::string, HostTensor> outputs = model.run(std::span(ids).subspan(begin, end - begin));
    const auto hidden = outputs.find("last_hidden_state");
    if (hidden == outputs.end()) fail(ErrorCode::kUnsupported, "{}: has no output 'last_hidden_state' to pool", s.model.path);
    const size_t width = size_t(hidden->second.view().sizes[-1]);
    const float* rows = hidden->second.as<float>();
    for (; begin < end; ++begin) {
      vectors.push_back(pool(rows, ids[begin].size(), width, pooling));
      if (normalized) normalize(vectors.back());
      rows += ids[begin].size() * width;
    }
  }
  if (s.json) {
    write_output(OrderedJson{{"dimensions", vectors[0].size()}, {"prompt_tokens", num_tokens}, {"embeddings", vectors}}.dump() + "\n");
    return 0;
  }
  for (const auto& vector : vectors) write_output(fmt::format("{}\n", fmt::join(vector, " ")));
  return 0;
}

}  // namespace

void declare_embed(Options& options) {
  const auto s = std::make_shared<EmbedSettings>();
  options.positional("MODEL", s->model.path, "an encoder: a Hugging Face or sentence-transformers folder, a .gguf file or an engine");
  options.words("-p,--prompt", "TEXT...", s->texts, "the texts (else the lines of standard input)");
  options.value("--pooling", "HOW", s->pooling, "mean, cls, last or max (default: as the folder says, else mean)");
  options.flag("--normalize", s->normalize, "to length 1, also when the folder does not say so");
  declare_threads(options, s->model);
  declare_dtype(options, s->model);
  options.flag("--json", s->json, "{\"embeddings\": [[...], ...]}");
  options.run([s] { return embed(*s); });
}

}  // namespace headrace::cli
