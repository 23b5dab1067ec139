// headrace tokenize: text to token ids and back.
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "core/utf8.h"
#include "headrace/tokenizer.h"

namespace headrace::cli {
namespace {

struct TokenizeSettings {
  std::string model;
  std::optional<std::string> text, decode;
  bool special = false, no_special = false, parse_special = false, json = false;
};

std::string dump(const OrderedJson& json) { return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n"; }

int decode(const Tokenizer& tokenizer, const TokenizeSettings& s) {
  std::vector<int32_t> ids;
  parse_value(*s.decode, ids);
  const std::string bytes = tokenizer.decode(ids, {.skip_special = s.no_special});
  write_output(s.json ? dump({{"text", replace_invalid_utf8(bytes)}}) : bytes);
  return 0;
}

int tokenize(const TokenizeSettings& s) {
  if (s.special && s.no_special) throw UsageError("--special and --no-special exclude each other");
  if (s.text && s.decode) throw UsageError("-p and --decode exclude each other");
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(s.model);
  if (s.decode) return decode(*tokenizer, s);
  const std::vector<int32_t> ids =
      tokenizer->encode(s.text ? *s.text : read_input(), {.add_special = !s.no_special, .parse_special = s.parse_special});
  if (!s.json) {
    write_output(fmt::format("{}\n", fmt::join(ids, ",")));
    return 0;
  }
  OrderedJson tokens = OrderedJson::array();
  for (int32_t id : ids) tokens.push_back(std::string(tokenizer->token_text(id)));
  write_output(dump({{"ids", ids}, {"tokens", std::move(tokens)}}));
  return 0;
}

}  // namespace

void declare_tokenize(Options& options) {
  const auto s = std::make_shared<TokenizeSettings>();
  options.positional("MODEL", s->model, "a model, a folder with a vocabulary, or a vocabulary file");
  options.value("-p,--prompt", "TEXT", s->text, "the text (else standard input, to its last byte)");
  options.value("--decode", "IDS", s->decode, "the other way: the text of these ids");
  options.flag("--special", s->special, "begin and end tokens as the model wants them (default)");
  options.flag("--no-special", s->no_special, "none of them; with --decode: control tokens give nothing");
  options.flag("--parse-special", s->parse_special, "control tokens spelled in the text are control tokens");
  options.flag("--json", s->json, "{\"ids\": [...], \"tokens\": [...]} or {\"text\": \"...\"}");
  options.run([s] { return tokenize(*s); });
}

}  // namespace headrace::cli
