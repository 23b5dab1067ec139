// Text on its own: tokens, text that comes token by token, chat templates. Reads no weights.
//   example_text MODEL [TEXT]
#include <cstdio>

#include "headrace/chat_template.h"
#include "headrace/tokenizer.h"

using namespace headrace;

static void run(const std::string& model, const std::string& text) {
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(model);
  const std::vector<int32_t> ids = tokenizer->encode(text);
  for (int32_t id : ids) std::printf("%d '%s'\n", id, std::string(tokenizer->token_text(id)).c_str());
  std::printf("decoded: %s\n", tokenizer->decode(ids, {.skip_special = true}).c_str());

  // While tokens come: no character is ever cut in two, and the pieces joined are the whole.
  Detokenizer detokenizer(tokenizer, {.skip_special = true});
  std::printf("streamed:");
  for (int32_t id : ids) std::printf(" [%s]", detokenizer.push(id).c_str());
  std::printf(" [%s]\n", detokenizer.flush().c_str());

  const std::shared_ptr<const ChatTemplate> chat_template = load_chat_template(model);
  if (!chat_template) return void(std::printf("the model has no chat template\n"));
  std::printf("%s\n", chat_template->render({{"user", text}}).c_str());
  // As tokens: what people write never becomes a control token. A server does this beside its Executor.
  const ChatEncoder encoder(tokenizer, chat_template);
  std::printf("a prompt of %zu tokens\n", encoder.encode({{"user", text}}).size());
}

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "usage: example_text MODEL [TEXT]\n"), 2;
  run(argv[1], argc > 2 ? argv[2] : "Hello, w\u00f6rld");
} catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
