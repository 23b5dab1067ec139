// headrace embed: a vector for each text, from an encoder.
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "headrace/encoder.h"

namespace headrace::cli {
namespace {

struct EmbedSettings {
  ModelOptions model;
  std::vector<std::string> texts;
  std::string pooling;
  bool normalize = false, json = false;
};

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
  EmbedOptions options;
  if (!s.pooling.empty()) options.pooling = parse_pooling(s.pooling);
  if (s.normalize) options.normalize = true;
  Encoder encoder(load_model(s.model), s.model.load);
  const std::vector<Embedding> embeddings = encoder.embed(s.texts, options);
  if (!s.json) {
    for (const Embedding& e : embeddings) write_output(fmt::format("{}\n", fmt::join(e.values, " ")));
    return 0;
  }
  OrderedJson vectors = OrderedJson::array();
  int64_t num_tokens = 0;
  for (const Embedding& e : embeddings) vectors.push_back(e.values), num_tokens += e.num_tokens;
  write_output(
      OrderedJson{{"dimensions", embeddings[0].values.size()}, {"prompt_tokens", num_tokens}, {"embeddings", std::move(vectors)}}.dump() +
      "\n");
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
  declare_checkpoint(options, s->model);
  declare_plugins(options, s->model);
  options.flag("--json", s->json, "{\"embeddings\": [[...], ...]}");
  options.run([s] { return embed(*s); });
}

}  // namespace headrace::cli
