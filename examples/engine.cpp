// Engines: built, looked at, written, read and run; and how well the model foresees a text.
//   example_engine MODEL FILE.engine [TEXT]
#include "headrace/engine.h"

#include <cstdio>

#include "headrace/build.h"
#include "headrace/llm.h"
#include "headrace/perplexity.h"

using namespace headrace;

static void run(const std::string& model, const std::string& file, const std::string& text) {
  const Engine engine = build_engine(model, {.dtype = "fp32"});
  const EngineInfo info = inspect(engine);
  std::printf("%s: a %s with %lld parameters in %lld bytes, %lld bytes of cache per token, %lld nodes\n", info.model_type.c_str(),
              std::string(name(engine.kind)).c_str(), static_cast<long long>(info.num_parameters),
              static_cast<long long>(info.weight_bytes), static_cast<long long>(info.kv_bytes_per_token),
              static_cast<long long>(info.num_nodes));
  for (const Node* node : engine.program.nodes())
    if (node->op().name == "paged_attention") std::printf("attends: %s\n", node->output().type().to_string().c_str());

  write_engine(engine, file);  // WeightsMode::kLink leaves the weights in the checkpoint's files
  LLM llm(read_engine(file), {.num_threads = 1});
  std::printf("%s%s\n", text.c_str(), llm.generate(text, {.max_tokens = 16}).text.c_str());

  // Other weights for the same program: in an engine, before it is lowered or written ...
  Engine stripped = read_engine(file, {.weights = false});
  refit(stripped, model);
  // ... and in what runs, between two steps: requests that have begun are finished with the old ones.
  llm.executor().refit(checkpoint_weights(model));

  const std::vector<int32_t> ids = llm.tokenizer().encode(text, {.add_special = false});
  const int context = std::min(llm.executor().max_context(), 64);
  std::printf("perplexity %.3f\n", measure_perplexity(llm.executor(), ids, {.context = context, .stride = context / 2}).perplexity());
}

int main(int argc, char** argv) try {
  if (argc < 3) return std::fprintf(stderr, "usage: example_engine MODEL FILE.engine [TEXT]\n"), 2;
  run(argv[1], argv[2], argc > 3 ? argv[3] : "Once upon a time there was a river");
} catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
