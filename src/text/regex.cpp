#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"

#include <pcre2.h>

#include "core/error.h"

namespace headrace {
namespace {

constexpr uint32_t kMatchLimit = 50'000'000;    // backtracking steps of one match
constexpr uint32_t kHeapLimitKib = 256 * 1024;  // of one match without JIT
constexpr size_t kLargeJitStack = 256u << 20;   // reserved, not touched, when the small stack does not do

struct Deleter {
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
  void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
  void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

std::string message_of(int code) {
  PCRE2_UCHAR buffer[160] = {};
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

struct Regex::Code {
  Owned<pcre2_code> code;
  std::string pattern, where;
};

Regex::Regex(std::string_view pattern, std::string_view where) {
  const std::string translated = translate_regex(pattern, where);
  Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE at = 0;
  Owned<pcre2_code> code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                       PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &at, context.get()));
  if (!code) invalid("{}: regular expression '{}' does not compile: {} at {}", where, printable(pattern, 200), message_of(error), at);
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // without JIT, matching is only slower
  code_ = std::make_shared<const Code>(Code{std::move(code), std::string(pattern), std::string(where)});
}

void Regex::find_all(std::string_view text, std::vector<Match>& matches) const {
  const pcre2_code* code = code_->code.get();
  const Owned<pcre2_match_data> data(pcre2_match_data_create(1, nullptr));
  const Owned<pcre2_match_context> context(pcre2_match_context_create(nullptr));
  if (!data || !context) fail(ErrorCode::kOutOfMemory, "{}: no memory to match a regular expression", code_->where);
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_heap_limit(context.get(), kHeapLimitKib);
  Owned<pcre2_jit_stack> stack;
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data() ? text.data() : "");
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(data.get());
  size_t last_end = SIZE_MAX;
  for (size_t from = 0; from <= text.size();) {
    int found = pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (found == PCRE2_ERROR_JIT_STACKLIMIT && !stack) {
      stack.reset(pcre2_jit_stack_create(64 * 1024, kLargeJitStack, nullptr));
      pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
      continue;
    }
    if (found == PCRE2_ERROR_NOMATCH) return;
    if (found < 0)
      invalid("{}: regular expression '{}' gave up at byte {} of the text: {}", code_->where, printable(code_->pattern, 200), from,
              message_of(found));
    const Match match{bounds[0], bounds[1]};
    if (match.begin > match.end)
      invalid("{}: regular expression '{}' uses \\K in a lookaround", code_->where, printable(code_->pattern, 200));
    if (match.begin < match.end || match.end != last_end) matches.push_back(match);
    last_end = match.end;
    from = match.end;
    if (match.begin == match.end) {
      if (from >= text.size()) return;
      for (++from; from < text.size() && (static_cast<unsigned char>(text[from]) & 0xc0) == 0x80;) ++from;
    }
  }
}

}  // namespace headrace
