// Sums of products along repeated letters, as torch.einsum, in permutations, views, sums and a matmul for each pair of operands.
#include <algorithm>
#include <set>

#include "ops/function_call.h"

namespace headrace {
namespace {

// Axes that "..." stands for get letters of their own: the last is kEllipsis, the one before it the next ...
using Letter = int;
using Letters = std::vector<Letter>;
constexpr Letter kEllipsis = 1000;

bool has(const Letters& letters, Letter letter) { return std::find(letters.begin(), letters.end(), letter) != letters.end(); }

struct Term {
  Value value;
  Letters letters;  // of its axes
  Dim size(Letter letter) const { return value.shape()[int(std::find(letters.begin(), letters.end(), letter) - letters.begin())]; }
};

class Einsum {
 public:
  Einsum(std::string_view equation, std::source_location where) : equation_(equation), where_(where) {}

  Value of(const std::vector<Value>& operands) {
    std::vector<Term> terms = parse(operands);
    Term result = terms[0];
    for (size_t i = 1; i < terms.size(); ++i) {
      Letters wanted = output_;
      for (size_t j = i + 1; j < terms.size(); ++j) wanted.insert(wanted.end(), terms[j].letters.begin(), terms[j].letters.end());
      result = product(sum_over_others(result, wanted, &terms[i]), sum_over_others(terms[i], wanted, &result), wanted);
    }
    return arrange(sum_over_others(result, output_, nullptr), output_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    invalid("einsum(\"{}\"): {}{}", printable(equation_), fmt::format(format, std::forward<Args>(args)...), at_place(where_));
  }
  Operand operand(Value value) const { return {value, where_}; }

  // ------------------------------------------------------------------------------------------------------------ the equation

  // Letters of one operand or of the result, for axes of which `hidden` are behind "...".
  Letters letters_of(std::string_view text, int hidden) const {
    Letters letters;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == ' ') continue;
      if (text.substr(i, 3) == "...") {
        for (int axis = hidden; axis > 0; --axis) letters.push_back(kEllipsis + axis);
        i += 2;
        continue;
      }
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
        reject("'{}' is neither a letter nor part of \"...\"", printable(text.substr(i, 1)));
      if (has(letters, c)) reject("the letter {} stands twice in \"{}\"; take the diagonal first", c, text);
      letters.push_back(c);
    }
    return letters;
  }

  std::vector<Term> parse(const std::vector<Value>& operands) {
    if (operands.empty()) reject("there are no operands");
    const size_t arrow = equation_.find("->");
    std::string_view inputs = equation_.substr(0, arrow);
    std::vector<Term> terms;
    int most_hidden = 0;
    for (const Value& value : operands) {
      if (!value) reject("operand {} is an empty Value", terms.size());
      if (inputs.data() == nullptr) reject("there are {} operands, letters for {}", operands.size(), terms.size());
      const size_t comma = inputs.find(',');
      const std::string_view text = inputs.substr(0, comma);
      inputs = comma == text.npos ? std::string_view() : inputs.substr(comma + 1);
      const int rank = value.shape().rank(), named = int(letters_of(text, 0).size()), hidden = rank - named;
      if (hidden < 0 || (hidden > 0 && text.find("...") == text.npos))
        reject("\"{}\" names {} axes, operand {} is {}", text, named, terms.size(), value.type().to_string());
      terms.push_back({value, letters_of(text, hidden)});
      most_hidden = std::max(most_hidden, hidden);
    }
    if (inputs.data() != nullptr) reject("there are {} operands, letters for more", operands.size());
    check_sizes(terms);
    output_ = arrow == equation_.npos ? implied_output(terms, most_hidden) : letters_of(equation_.substr(arrow + 2), most_hidden);
    if (most_hidden > 0 && !has(output_, kEllipsis + 1)) reject("the result lacks \"...\", which has {} axes", most_hidden);
    for (Letter letter : output_)
      if (std::none_of(terms.begin(), terms.end(), [&](const Term& t) { return has(t.letters, letter); }))
        reject("the result's letter {} stands in no operand", char(letter));
    return terms;
  }

  void check_sizes(const std::vector<Term>& terms) const {
    for (const Term& a : terms)
      for (const Term& b : terms)
        for (Letter letter : a.letters)
          if (letter < kEllipsis && has(b.letters, letter) && a.size(letter) != b.size(letter))
            reject("{} stands for {} and for {}", char(letter), a.size(letter).to_string(), b.size(letter).to_string());
  }

  static Letters implied_output(const std::vector<Term>& terms, int hidden) {
    Letters output;
    for (int axis = hidden; axis > 0; --axis) output.push_back(kEllipsis + axis);
    std::multiset<Letter> all;
    for (const Term& t : terms) all.insert(t.letters.begin(), t.letters.end());
    for (Letter letter : all)
      if (letter < kEllipsis && all.count(letter) == 1) output.push_back(letter);
    return output;
  }

  // ------------------------------------------------------------------------------------------------------------ the product

  // Axes go that neither `wanted` nor the other term has.
  Term sum_over_others(const Term& t, const Letters& wanted, const Term* other) const {
    std::vector<int64_t> axes;
    Letters left;
    for (size_t i = 0; i < t.letters.size(); ++i) {
      if (has(wanted, t.letters[i]) || (other && has(other->letters, t.letters[i]))) left.push_back(t.letters[i]);
      else axes.push_back(int64_t(i));
    }
    return axes.empty() ? t : Term{sum(operand(t.value), axes), left};
  }

  // t's axes in that order; those that it lacks have size 1.
  Value arrange(const Term& t, const Letters& order) const {
    std::vector<int64_t> axes;
    std::vector<Dim> sizes;
    for (Letter letter : order) {
      const auto at = std::find(t.letters.begin(), t.letters.end(), letter);
      if (at != t.letters.end()) axes.push_back(at - t.letters.begin());
      sizes.push_back(at == t.letters.end() ? Dim(1) : t.size(letter));
    }
    const Value permuted = std::is_sorted(axes.begin(), axes.end()) ? t.value : permute(operand(t.value), axes);
    const Shape shape(std::move(sizes));
    return permuted.shape() == shape ? permuted : reshape(operand(permuted), shape);
  }

  static Dim numel(const Term& t, const Letters& letters) {
    Dim product = 1;
    for (Letter letter : letters) product = product * t.size(letter);
    return product;
  }

  // What both have and nobody wants is summed over.
  Term product(const Term& a, const Term& b, const Letters& wanted) const {
    Letters batch, left, right, summed;
    for (Letter letter : a.letters) (!has(b.letters, letter) ? left : has(wanted, letter) ? batch : summed).push_back(letter);
    for (Letter letter : b.letters)
      if (!has(a.letters, letter)) (letter >= kEllipsis ? batch : right).push_back(letter);
    for (Letter letter : Letters(left))  // axes behind "..." broadcast
      if (letter >= kEllipsis) left.erase(std::find(left.begin(), left.end(), letter)), batch.push_back(letter);

    Letters letters = batch;
    letters.insert(letters.end(), left.begin(), left.end());
    letters.insert(letters.end(), right.begin(), right.end());
    if (summed.empty()) return {mul(operand(arrange(a, letters)), operand(arrange(b, letters))), letters};
    const Value x = matrices(a, batch, left, summed), y = matrices(b, batch, summed, right);
    const Value z = matmul(operand(x), operand(y));
    std::vector<Dim> sizes(z.shape().dims().begin(), z.shape().dims().begin() + int64_t(batch.size()));
    for (Letter letter : left) sizes.push_back(a.size(letter));
    for (Letter letter : right) sizes.push_back(b.size(letter));
    const Shape shape(std::move(sizes));
    return {shape == z.shape() ? z : reshape(operand(z), shape), letters};
  }

  // (batch..., rows, columns)
  Value matrices(const Term& t, const Letters& batch, const Letters& rows, const Letters& columns) const {
    Letters order = batch;
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), columns.begin(), columns.end());
    const Value arranged = arrange(t, order);
    std::vector<Dim> sizes(arranged.shape().dims().begin(), arranged.shape().dims().begin() + int64_t(batch.size()));
    sizes.push_back(numel(t, rows));
    sizes.push_back(numel(t, columns));
    const Shape shape(std::move(sizes));
    return shape == arranged.shape() ? arranged : reshape(operand(arranged), shape);
  }

  std::string_view equation_;
  std::source_location where_;
  Letters output_;
};

}  // namespace

Value einsum(std::string_view equation, std::vector<Value> operands, std::source_location where) {
  return Einsum(equation, where).of(operands);
}

}  // namespace headrace
