#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.h"
#include "headrace/types.h"

namespace headrace {

Dim::Dim(int64_t value) {
  if (value != 0) terms_[{}] = value;
}

Dim Dim::symbol(std::string name) {
  Dim d;
  d.terms_[{std::move(name)}] = 1;
  return d;
}

bool Dim::is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty()); }

int64_t Dim::value() const {
  if (!is_constant()) invalid("the size '{}' is not known before run time", to_string());
  return terms_.empty() ? 0 : terms_.begin()->second;
}

namespace {

// Sizes come from files, too.
int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) invalid("a size overflows: {} + {}", a, b);
  return sum;
}
int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) invalid("a size overflows: {} * {}", a, b);
  return product;
}

}  // namespace

int64_t Dim::evaluate(const SymbolValues& symbols) const {
  int64_t sum = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    int64_t product = coefficient;
    for (const std::string& symbol : monomial) {
      const auto it = symbols.find(symbol);
      if (it == symbols.end()) fail(ErrorCode::kNotFound, "the size '{}' has no value for symbol '{}'", to_string(), symbol);
      product = times(product, it->second);
    }
    sum = plus(sum, product);
  }
  return sum;
}

Dim Dim::operator+(const Dim& other) const {
  Dim sum = *this;
  for (const auto& [monomial, coefficient] : other.terms_)
    if (int64_t& term = sum.terms_[monomial]; (term = plus(term, coefficient)) == 0) sum.terms_.erase(monomial);
  return sum;
}

Dim Dim::operator-(const Dim& other) const { return *this + other * Dim(-1); }

Dim Dim::operator*(const Dim& other) const {
  constexpr size_t kMostTerms = 256;  // factors from a file could be multiplied to any number of them
  Dim product;
  for (const auto& [a, x] : terms_)
    for (const auto& [b, y] : other.terms_) {
      Monomial m = a;
      m.insert(m.end(), b.begin(), b.end());
      std::sort(m.begin(), m.end());
      if (int64_t& term = product.terms_[m]; (term = plus(term, times(x, y))) == 0) product.terms_.erase(m);
      if (product.terms_.size() > kMostTerms) invalid("a size that is a sum of more than {} products", kMostTerms);
    }
  return product;
}

std::optional<Dim> Dim::divided_by(const Dim& divisor) const {
  if (*this == divisor && !terms_.empty()) return Dim(1);
  if (divisor.terms_.size() != 1) return std::nullopt;  // only by one term: enough for views and splits
  const auto& [by, coefficient] = *divisor.terms_.begin();
  Dim quotient;
  for (const auto& [monomial, x] : terms_) {
    if ((coefficient == -1 && x == INT64_MIN) || x % coefficient != 0 ||
        !std::includes(monomial.begin(), monomial.end(), by.begin(), by.end()))
      return std::nullopt;
    Monomial rest;
    std::set_difference(monomial.begin(), monomial.end(), by.begin(), by.end(), std::back_inserter(rest));
    quotient.terms_[rest] = x / coefficient;
  }
  return quotient;
}

void Dim::collect_symbols(std::vector<std::string>& names) const {
  for (const auto& [monomial, coefficient] : terms_)
    for (const std::string& symbol : monomial)
      if (std::find(names.begin(), names.end(), symbol) == names.end()) names.push_back(symbol);
}

std::string Dim::to_string() const {
  if (terms_.empty()) return "0";
  std::string out;
  for (auto it = terms_.rbegin(); it != terms_.rend(); ++it) {  // the constant, if any, comes last
    const auto& [monomial, coefficient] = *it;
    const uint64_t magnitude = coefficient < 0 ? -uint64_t(coefficient) : uint64_t(coefficient);
    if (coefficient < 0) out += "-";
    else if (!out.empty()) out += "+";
    if (monomial.empty() || magnitude != 1) out += fmt::format("{}{}", magnitude, monomial.empty() ? "" : "*");
    out += fmt::format("{}", fmt::join(monomial, "*"));
  }
  return out;
}

Dim Dim::parse(std::string_view text) {
  const std::string_view whole = text;
  const auto bad = [&] { invalid("'{}' is not a size; wanted sums of products such as 4*tokens+1", printable(whole)); };
  Dim sum;
  bool first = true;
  while (!text.empty() || first) {
    int64_t sign = 1;
    if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
      sign = text[0] == '-' ? -1 : 1;
      text.remove_prefix(1);
    } else if (!first) {
      bad();
    }
    first = false;
    Dim product(sign);
    for (bool more = true; more;) {
      size_t n = 0;
      while (n < text.size() && (std::isalnum(static_cast<unsigned char>(text[n])) || text[n] == '_')) ++n;
      if (n == 0) bad();
      const std::string_view word = text.substr(0, n);
      text.remove_prefix(n);
      if (std::isdigit(static_cast<unsigned char>(word[0]))) {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size()) bad();
        product = product * Dim(value);
      } else {
        product = product * symbol(std::string(word));
      }
      more = !text.empty() && text[0] == '*';
      if (more) text.remove_prefix(1);
    }
    sum = sum + product;
  }
  return sum;
}

const Dim& Shape::operator[](int axis) const {
  const int at = axis < 0 ? axis + rank() : axis;
  if (at < 0 || at >= rank()) invalid("axis {} of a shape {}: it has {} axes", axis, to_string(), rank());
  return dims_[at];
}

Dim& Shape::operator[](int axis) { return const_cast<Dim&>(std::as_const(*this)[axis]); }

Dim Shape::numel() const {
  Dim product = 1;
  for (const Dim& d : dims_) product = product * d;
  return product;
}

bool Shape::is_constant() const {
  return std::all_of(dims_.begin(), dims_.end(), [](const Dim& d) { return d.is_constant(); });
}

Sizes Shape::sizes() const {
  Sizes sizes;
  for (const Dim& d : dims_) sizes.push_back(d.value());
  return sizes;
}

std::string Shape::to_string() const {
  std::string out = "[";
  for (int i = 0; i < rank(); ++i) out += (i ? ", " : "") + dims_[i].to_string();
  return out + "]";
}

std::string TensorType::to_string() const { return std::string(name(dtype)) + shape.to_string(); }

}  // namespace headrace
