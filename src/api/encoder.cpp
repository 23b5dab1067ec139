#include "headrace/encoder.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/json.h"
#include "engine/refit.h"
#include "headrace/engine.h"
#include "headrace/session.h"

namespace headrace {
namespace {

constexpr size_t kBatchTokens = 2048;

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

// To `limit` tokens; the special tokens at the end stay.
void truncate(std::vector<int32_t>& ids, size_t limit, const Tokenizer& tokenizer) {
  size_t tail = 0;
  while (tail < 4 && tail < limit && tokenizer.is_special(ids[ids.size() - 1 - tail])) ++tail;
  ids.erase(ids.begin() + int64_t(limit - tail), ids.end() - int64_t(tail));
}

Session make_session(Engine& engine, const LoadOptions& options) {
  if (engine.kind != ModelKind::kEncoder)
    fail(ErrorCode::kUnsupported, "{}: is a decoder, which generates text; an encoder such as BERT is wanted", engine.origin);
  require_weights(engine);
  return Session(std::move(engine.program), engine.weights,
                 {.num_threads = options.num_threads,
                  .exact = engine.exact,
                  .compile = false,
                  .plugins = options.plugins ? options.plugins : engine.plugins,
                  .debugger = options.debugger});
}

Tensor view(const std::vector<int32_t>& values) {
  return Tensor::contiguous(static_cast<const void*>(values.data()), DType::kI32, {int64_t(values.size())});
}

}  // namespace

std::string_view name(Pooling pooling) {
  constexpr std::string_view kNames[] = {"mean", "cls", "last", "max"};
  return kNames[size_t(pooling)];
}

Pooling parse_pooling(std::string_view text) {
  for (const Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLast, Pooling::kMax})
    if (text == name(pooling)) return pooling;
  if (text == "lasttoken") return Pooling::kLast;
  fail(ErrorCode::kUnsupported, "pooling '{}' is not known; wanted mean, cls, last or max", printable(text));
}

struct Encoder::Impl {
  Impl(Engine engine, const LoadOptions& options)
      : origin(engine.origin), vocab_size(engine.vocab_size), tokenizer(load_tokenizer(engine)), session(make_session(engine, options)) {
    const std::string where = origin + ": pooling";
    Json how = parse_json(engine.pooling, where);
    if (!how.is_object()) how = Json::object();
    pooling_name = find_or<std::string>(how, "mode", "mean", where);
    normalized = find_or(how, "normalize", false, where);
    max_tokens = std::clamp<int64_t>(find_or<int64_t>(how, "max_seq_length", engine.max_positions, where), 1, engine.max_positions);
    max_positions = engine.max_positions;
  }

  std::string origin;
  int64_t vocab_size = 0, max_positions = 0, max_tokens = 0;
  std::string pooling_name;  // as the checkpoint says; one that is not known matters only to who wants it
  bool normalized = false;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::mutex mutex;
  Session session;  // used under the mutex
};

Encoder::Encoder(Engine engine, const LoadOptions& options) : impl_(std::make_unique<Impl>(std::move(engine), options)) {}
Encoder::Encoder(const std::string& path, const LoadOptions& options) : Encoder(load_engine(path, options), options) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

void Encoder::refit(std::shared_ptr<const WeightSource> weights) {
  const std::lock_guard lock(impl_->mutex);
  impl_->session.refit(std::move(weights));
}

int Encoder::max_tokens() const { return int(impl_->max_tokens); }
bool Encoder::has_tokenizer() const { return impl_->tokenizer != nullptr; }
const Tokenizer& Encoder::tokenizer() const {
  if (!impl_->tokenizer) fail(ErrorCode::kNotFound, "{}: has no tokenizer files; text needs them", impl_->origin);
  return *impl_->tokenizer;
}

std::vector<Embedding> Encoder::embed(std::span<const std::string> texts, const EmbedOptions& options) {
  const Pooling pooling = options.pooling ? *options.pooling : parse_pooling(impl_->pooling_name);
  std::vector<Embedding> embeddings;
  std::vector<std::vector<int32_t>> ids;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<int32_t>& sequence = ids.emplace_back(tokenizer().encode(texts[i]));
    const bool too_long = sequence.size() > size_t(impl_->max_tokens);
    if (too_long && !options.truncate)
      invalid("text {} has {} tokens, {} takes {}: shorten it, or let it be truncated", i, sequence.size(), impl_->origin,
              impl_->max_tokens);
    if (too_long) truncate(sequence, size_t(impl_->max_tokens), tokenizer());
    embeddings.push_back({.num_tokens = int(sequence.size()), .truncated = too_long});
  }
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin, tokens = 0;
    while (end < ids.size() && (end == begin || tokens + ids[end].size() <= kBatchTokens)) tokens += ids[end++].size();
    const std::map<std::string, HostTensor> outputs = run(std::span(ids).subspan(begin, end - begin));
    const auto hidden = outputs.find("last_hidden_state");
    if (hidden == outputs.end()) fail(ErrorCode::kUnsupported, "{}: has no output 'last_hidden_state' to pool", impl_->origin);
    const size_t width = size_t(hidden->second.view().sizes[-1]);
    const float* rows = hidden->second.as<float>();
    for (; begin < end; ++begin) {
      embeddings[begin].values = pool(rows, ids[begin].size(), width, pooling);
      if (options.normalize.value_or(impl_->normalized)) normalize(embeddings[begin].values);
      rows += ids[begin].size() * width;
    }
  }
  return embeddings;
}

std::vector<Embedding> Encoder::embed(std::initializer_list<std::string> texts, const EmbedOptions& options) {
  return embed(std::span(texts.begin(), texts.size()), options);
}

std::map<std::string, HostTensor> Encoder::run(std::span<const std::vector<int32_t>> sequences,
                                               std::span<const std::vector<int32_t>> type_ids) {
  if (sequences.empty()) invalid("there is nothing to encode: give at least one sequence");
  if (!type_ids.empty() && type_ids.size() != sequences.size())
    invalid("there are {} sequences and token types of {}", sequences.size(), type_ids.size());
  std::vector<int32_t> tokens, positions, types, offsets{0};
  for (size_t s = 0; s < sequences.size(); ++s) {
    const std::vector<int32_t>& ids = sequences[s];
    if (ids.empty()) invalid("the prompt is empty: give at least one token");
    if (int64_t(ids.size()) > impl_->max_positions)
      invalid("the prompt has {} tokens, but {} has {} positions: shorten it", ids.size(), impl_->origin, impl_->max_positions);
    for (int32_t id : ids) {
      if (id < 0 || id >= impl_->vocab_size) invalid("token {}: ids of this model are 0 to {}", id, impl_->vocab_size - 1);
      positions.push_back(int32_t(tokens.size()) - offsets.back());
      tokens.push_back(id);
    }
    offsets.push_back(int32_t(tokens.size()));
    if (type_ids.empty()) continue;
    if (type_ids[s].size() != ids.size()) invalid("sequence {} has {} tokens and {} token types", s, ids.size(), type_ids[s].size());
    types.insert(types.end(), type_ids[s].begin(), type_ids[s].end());
  }
  types.resize(tokens.size(), 0);
  const std::lock_guard lock(impl_->mutex);
  return impl_->session.run(
      {{"tokens", view(tokens)}, {"positions", view(positions)}, {"token_types", view(types)}, {"sequence_offsets", view(offsets)}});
}

}  // namespace headrace
