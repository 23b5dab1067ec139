#include "text/normalizer.h"

#include "core/utf8.h"
#include "text/byte_alphabet.h"
#include "text/charsmap.h"
#include "text/growth.h"
#include "text/unicode.h"

namespace headrace {
namespace {

// Characters that neural machine translation data are cleaned of, as T5's and mBART's normalizer lists them.
bool nmt_drops(uint32_t c) {
  return (c >= 0x01 && c <= 0x08) || c == 0x0b || (c >= 0x0e && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f;
}

bool nmt_is_space(uint32_t c) {
  return c == 0x09 || c == 0x0a || c == 0x0c || c == 0x0d || c == 0x1680 || (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 ||
         c == 0x2581 || c == 0xfeff || c == 0xfffd;
}

constexpr std::string_view kPart = "normalizer";

// Each character through `f(out, c)`.
template <typename F>
std::string map_characters(std::string_view text, F&& f) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](uint32_t c, size_t, size_t) { f(out, c); });
  return out;
}

}  // namespace

std::string apply(const std::vector<Normalizer>& normalizers, std::string_view text, bool at_start) {
  std::string result(text);
  for (const Normalizer& normalizer : normalizers) result = normalizer(result, at_start);
  return result;
}

Normalizer normal_form(NormalForm form) {
  return [form](std::string_view text, bool) { return normalize(text, form); };
}

Normalizer lowercase() {
  return [](std::string_view text, bool) { return map_characters(text, append_lowercase); };
}

Normalizer strip_accents() {
  return [](std::string_view text, bool) {
    return map_characters(text, [](std::string& out, uint32_t c) {
      if (!is_mark(c)) append_utf8(out, c);
    });
  };
}

Normalizer replace(std::string pattern, std::string content) {
  return [pattern = std::move(pattern), content = std::move(content)](std::string_view text, bool) {
    std::string out;
    out.reserve(text.size());
    size_t from = 0;
    if (!pattern.empty()) {
      for (size_t at; (at = text.find(pattern, from)) != std::string_view::npos; from = at + pattern.size())
        check_growth(kPart, out.append(text.substr(from, at - from)).append(content).size(), text.size());
    }
    return out.append(text.substr(from));
  };
}

Normalizer replace(Regex pattern, std::string content) {
  return [pattern = std::move(pattern), content = std::move(content)](std::string_view text, bool) {
    std::vector<Match> matches;
    pattern.find_all(text, matches);
    std::string out;
    out.reserve(text.size());
    size_t from = 0;
    for (const Match& match : matches) {
      check_growth(kPart, out.append(text.substr(from, match.begin - from)).append(content).size(), text.size());
      from = match.end;
    }
    return out.append(text.substr(from));
  };
}

Normalizer prepend(std::string prefix) {
  return [prefix = std::move(prefix)](std::string_view text, bool) {
    if (text.empty()) return std::string();
    check_growth(kPart, prefix.size() + text.size(), text.size());
    return prefix + std::string(text);
  };
}

Normalizer strip_whitespace(StripOptions options) {
  return [options](std::string_view text, bool) {
    size_t begin = text.size(), end = 0;
    for_each_character(text, [&](uint32_t c, size_t from, size_t to) {
      if (is_whitespace(c)) return;
      begin = std::min(begin, from);
      end = to;
    });
    if (!options.left) begin = 0;
    if (!options.right) end = text.size();
    return std::string(text.substr(begin, end > begin ? end - begin : 0));
  };
}

Normalizer nmt() {
  return [](std::string_view text, bool) {
    return map_characters(text, [](std::string& out, uint32_t c) {
      if (!nmt_drops(c)) append_utf8(out, nmt_is_space(c) ? ' ' : c);
    });
  };
}

Normalizer byte_alphabet() {
  return [](std::string_view text, bool) {
    check_growth(kPart, text.size() * 2, text.size());
    std::string out;
    out.reserve(text.size() * 2);
    append_byte_alphabet(out, text);
    return out;
  };
}

Normalizer charsmap(std::shared_ptr<const Charsmap> map) {
  return [map = std::move(map)](std::string_view text, bool) { return map->normalize(text); };
}

Normalizer bert_normalizer(BertNormalizerOptions options) {
  return [options](std::string_view text, bool) {
    std::string out = map_characters(text, [&](std::string& to, uint32_t c) {
      if (options.clean_text) {
        const bool space = is_whitespace(c);
        const bool control = is_other(c) && !(c == '\t' || c == '\n' || c == '\r' || (space && options.controls_may_be_spaces));
        if (c == 0 || c == 0xfffd || control) return;
        if (space) return to.push_back(' ');
      }
      const bool spaced = options.space_chinese && is_chinese(c);
      if (spaced) to += ' ';
      append_utf8(to, c);
      if (spaced) to += ' ';
    });
    if (options.strip_accents) {
      out = map_characters(normalize(out, NormalForm::kNfd), [](std::string& to, uint32_t c) {
        if (!is_nonspacing_mark(c)) append_utf8(to, c);
      });
    }
    return options.lowercase ? map_characters(out, append_lowercase) : out;
  };
}

}  // namespace headrace
