// LLM: text in, text out.
//   example_llm MODEL [PROMPT] [-n 32]
#include "headrace/llm.h"

#include <cstdio>
#include <cstring>

using namespace headrace;

static void show(const Completion& piece) {
  std::fwrite(piece.text.data(), 1, piece.text.size(), stdout);
  std::fflush(stdout);
}

static void run(const std::string& model, const std::string& text, int max_tokens) {
  LLM llm(model);

  // A completion, streamed as it comes. Greedy unless a temperature is set.
  std::printf("%s", text.c_str());
  const Completion whole = llm.generate(text, {.max_tokens = max_tokens}, show);
  std::printf("  [%s after %zu tokens, the first within %.0f ms]\n", std::string(name(whole.finish)).c_str(), whole.token_ids.size(),
              whole.timings.first_token_s.value_or(0) * 1e3);

  // Several prompts in one batch, sampled, each ending at the first full stop.
  const std::vector<Prompt> prompts = {text, text + " and", text + " but"};
  GenerateOptions options{.max_tokens = max_tokens, .stop = {"."}, .include_stop = true};
  options.sampling = {.temperature = 0.8f, .top_p = 0.95f, .seed = 7};
  for (const Completion& c : llm.generate(prompts, options)) std::printf("- ...%s\n", c.text.c_str());

  // How likely each token was, and what else could have come.
  options = {.max_tokens = 3, .output = {.logprobs = 2}};
  for (const TextLogprobs& t : llm.generate(text, options).logprobs) {
    std::printf("'%s' %.2f", t.text.c_str(), t.logprob);
    for (const TextToken& other : t.top) std::printf("  ('%s' %.2f)", other.text.c_str(), other.logprob);
    std::printf("\n");
  }

  // Under control of the caller: pieces are pulled, and it can be given up at any time.
  Generation generation = llm.start(text, {.max_tokens = 1000});
  for (int pieces = 0; pieces < 5;) {
    const std::optional<Completion> piece = generation.next(std::chrono::milliseconds(100));
    if (!piece) continue;  // time to look at the keyboard
    if (piece->finished()) break;
    show(*piece);
    if (++pieces == 5) generation.cancel();
  }
  std::printf("\n");

  // A conversation, if the model was made for that.
  try {
    llm.chat({{"user", "Name three colours."}}, {.max_tokens = max_tokens}, show);
    std::printf("\n");
  } catch (const Error& e) {
    std::printf("no chat: %s\n", e.what());
  }
}

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "usage: example_llm MODEL [PROMPT] [-n 32]\n"), 2;
  std::string prompt = "Once upon a time";
  int max_tokens = 32;
  for (int i = 2; i < argc; ++i) {
    if (!std::strcmp(argv[i], "-n") && i + 1 < argc) max_tokens = std::stoi(argv[++i]);
    else prompt = argv[i];
  }
  run(argv[1], prompt, max_tokens);
} catch (const std::exception& e) {  // an Error, or what std::stoi throws
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
