// Encoders (BERT): vectors of texts, and every output of the model.
//
//   Encoder encoder("all-MiniLM-L6-v2");
//   std::vector<Embedding> vectors = encoder.embed({"a river", "a stream"});
//   float similarity = dot(vectors[0].values, vectors[1].values);           // a cosine, where the model's vectors are normalized
#pragma once

#include "headrace/executor.h"
#include "headrace/tokenizer.h"

namespace headrace {

// How the vectors of a text's tokens become one.
enum class Pooling {
  kMean,  // of all tokens
  kCls,   // the first token's
  kLast,  // the last token's
  kMax,   // the largest of all tokens, each dimension on its own
};
std::string_view name(Pooling pooling);
// "mean", "cls", "last", "max", and sentence-transformers' "lasttoken". Throws Error(kUnsupported) for others.
Pooling parse_pooling(std::string_view name);

struct EmbedOptions {
  std::optional<Pooling> pooling;  // absent: as the checkpoint says (sentence-transformers' 1_Pooling, GGUF), else the mean
  std::optional<bool> normalize;   // to length 1; absent: as the checkpoint says, else not
  bool truncate = true;            // texts longer than max_tokens() are cut, the special tokens at their end kept; false: they are an error
};

struct Embedding {
  std::vector<float> values;  // (dimensions)
  int num_tokens = 0;         // that were computed
  bool truncated = false;
};

// All functions may be called from any thread; calls that compute take turns.
class Encoder {
 public:
  // A Hugging Face or sentence-transformers folder, a .gguf file or an engine. Of the options, device, dtype, num_threads,
  // checkpoint and random_weights count. Throws Error, also for a decoder.
  explicit Encoder(const std::string& path, const LoadOptions& options = {});
  explicit Encoder(Engine engine, const LoadOptions& options = {});
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  // A vector for each text, computed in batches, without padding. Throws Error for a text that is not valid UTF-8, and when the model has
  // no tokenizer or no output "last_hidden_state".
  std::vector<Embedding> embed(std::span<const std::string> texts, const EmbedOptions& options = {});
  std::vector<Embedding> embed(std::initializer_list<std::string> texts, const EmbedOptions& options = {});

  // Every output by name, as the model's graph marks them ("last_hidden_state" (tokens, hidden), "pooler_output" (sequences, hidden),
  // "logits" ...): rows of all sequences one after the other.
  //   sequences  token ids, each sequence at least one and at most as many as the model has positions
  //   type_ids   BERT's token types, as many for each sequence (see Tokenizer::encode_pair); empty: all are 0
  // Throws Error(kInvalidArgument) for others.
  std::map<std::string, HostTensor> run(std::span<const std::vector<int32_t>> sequences,
                                        std::span<const std::vector<int32_t>> type_ids = {});

  // Other weights for the same program (refit in headrace/engine.h); calls that compute wait. Throws Error when they do not fit; the old
  // ones then stay.
  void refit(std::shared_ptr<const WeightSource> weights);

  int max_tokens() const;  // of one text, special tokens included
  bool has_tokenizer() const;
  const Tokenizer& tokenizer() const;  // throws Error(kNotFound) when there is none

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace
