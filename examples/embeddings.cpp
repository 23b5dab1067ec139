// Encoder: vectors of texts, and which texts are alike.
//   example_embeddings MODEL [TEXT...]
#include <cstdio>
#include <numeric>

#include "headrace/encoder.h"

using namespace headrace;

static float dot(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.f);
}

static void run(const std::string& model, const std::vector<std::string>& texts) {
  Encoder encoder(model);
  const std::vector<Embedding> embeddings = encoder.embed(texts, {.normalize = true});
  for (size_t i = 0; i < texts.size(); ++i) {
    std::printf("%zu: %d tokens, %zu dimensions; cosines", i, embeddings[i].num_tokens, embeddings[i].values.size());
    for (const Embedding& other : embeddings) std::printf(" %.3f", dot(embeddings[i].values, other.values));
    std::printf("  '%s'\n", texts[i].c_str());
  }

  // Other ways to make one vector of many, whatever the checkpoint says.
  const Embedding first = encoder.embed({texts[0]}, {.pooling = Pooling::kCls, .normalize = false}).at(0);
  std::printf("the first token's vector begins with %.3f\n", first.values.at(0));

  // Token ids in, every output of the model out. Two texts as a cross-encoder sees them, with their token types.
  const EncodedPair pair = encoder.tokenizer().encode_pair(texts[0], texts[texts.size() - 1]);
  for (const auto& [name, tensor] : encoder.run({{pair.ids}}, {{pair.type_ids}}))
    std::printf("%s %s\n", name.c_str(), tensor.view().sizes.to_string().c_str());
}

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "usage: example_embeddings MODEL [TEXT...]\n"), 2;
  std::vector<std::string> texts(argv + 2, argv + argc);
  if (texts.empty()) texts = {"the river", "the wheel turns", "the wheel turned"};
  run(argv[1], texts);
} catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
