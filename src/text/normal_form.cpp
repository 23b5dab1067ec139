#include "text/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/utf8.h"
#include "text/unicode.h"

namespace headrace {
namespace {

constexpr int kMaxDecomposition = 32;  // U+FDFA becomes 18 characters, the most of all
constexpr size_t kShortRun = 16;

utf8proc_propval_t combining_class(utf8proc_int32_t c) { return c < 0x300 ? 0 : utf8proc_get_property(c)->combining_class; }

// Stable order of one run of combining characters by their class.
void order_run(utf8proc_int32_t* begin, utf8proc_int32_t* end, std::vector<utf8proc_int32_t>& scratch) {
  const size_t size = static_cast<size_t>(end - begin);
  if (size <= kShortRun) {
    for (utf8proc_int32_t* i = begin + 1; i < end; ++i) {
      const utf8proc_int32_t c = *i;
      const auto rank = combining_class(c);
      utf8proc_int32_t* j = i;
      for (; j > begin && combining_class(j[-1]) > rank; --j) *j = j[-1];
      *j = c;
    }
    return;
  }
  std::array<size_t, 257> first{};
  for (const auto* i = begin; i < end; ++i) ++first[static_cast<size_t>(combining_class(*i)) + 1];
  for (size_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];
  scratch.resize(size);
  for (const auto* i = begin; i < end; ++i) scratch[first[static_cast<size_t>(combining_class(*i))]++] = *i;
  std::copy(scratch.begin(), scratch.end(), begin);
}

void order_marks(std::vector<utf8proc_int32_t>& text) {
  std::vector<utf8proc_int32_t> scratch;
  for (size_t i = 0; i < text.size();) {
    if (combining_class(text[i]) == 0) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    if (end - i > 1) order_run(text.data() + i, text.data() + end, scratch);
    i = end;
  }
}

}  // namespace

std::string normalize(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  const bool compose = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  const bool compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(text.size());
  for_each_character(text, [&](uint32_t c, size_t, size_t) {
    if (c < 0xa0) {
      characters.push_back(static_cast<utf8proc_int32_t>(c));
      return;
    }
    std::array<utf8proc_int32_t, kMaxDecomposition> parts;
    int boundary = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), kMaxDecomposition, options, &boundary);
    if (count <= 0 || count > kMaxDecomposition) {
      characters.push_back(static_cast<utf8proc_int32_t>(c));
    } else {
      characters.insert(characters.end(), parts.begin(), parts.begin() + count);
    }
  });
  order_marks(characters);
  size_t size = characters.size();
  if (compose && size > 0) {
    const auto composed = utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(size),
                                                   static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    if (composed >= 0) size = static_cast<size_t>(composed);
  }
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < size; ++i) append_utf8(out, static_cast<uint32_t>(characters[i]));
  return out;
}

}  // namespace headrace
