#include "compiler/recognize/spellings.h"

#include <algorithm>
#include <cmath>

#include "ops/cast/cast.h"
#include "ops/concat/concat.h"
#include "ops/reduce/reduce.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

// Half a unit in bf16's last place, the coarsest in which a literal may be stored.
double tolerance(DType dtype) { return dtype == DType::kBF16 ? 4e-3 : dtype == DType::kF16 ? 5e-4 : 1e-6; }

bool keeps_last_axis(const Node& node) {
  const auto& r = node.attributes_as<Reduce>();
  const int rank = node.input(0).shape().rank();
  return r.keepdim && (r.axes.size() == 1 ? is_last(r.axes[0], rank) : r.axes.empty() && rank == 1);
}

}  // namespace

Pattern about(double value) {
  const std::string wanted = "a number near " + std::to_string(value);
  return any().where_value(wanted, [value](Value v) {
    const std::optional<Match> m = match(number("n"), v);
    return m && std::fabs(m->number("n") - value) <= tolerance(v.dtype()) * std::fabs(value);
  });
}

Pattern maybe_wide(Pattern x, std::string wide) {
  return any_of({op("cast", {x}).with(Cast{.dtype = DType::kF32}).or_shared(), x}).as(std::move(wide));
}
Pattern maybe_cast(Pattern x) { return any_of({op("cast", {x}), x}); }

Pattern square_of(const Pattern& x) { return any_of({op("square", {x}), op("mul", {x, x}), op("pow", {x, number(2)})}); }
Pattern cube_of(const Pattern& x) { return any_of({op("pow", {x, number(3)}), op("mul", {square_of(x), x})}); }
Pattern negative_of(const Pattern& x) { return any_of({op("neg", {x}), op("mul", {x, number(-1)}), op("sub", {number(0), x})}); }

Pattern reciprocal_root_of(const Pattern& x) {
  return any_of({op("rsqrt", {x}), op("div", {number(1), op("sqrt", {x})}), op("pow", {x, number(-0.5)})});
}

Pattern product_of(const Pattern& a, const Pattern& b, const Pattern& c) {
  return any_of({op("mul", {op("mul", {a, b}), c}), op("mul", {op("mul", {a, c}), b}), op("mul", {op("mul", {b, c}), a})});
}

Pattern last_axis(std::string reduction, Pattern x) {
  return op(std::move(reduction), {std::move(x)}).where("a reduction along the last axis that keeps it", keeps_last_axis);
}

Pattern mean_of(const Pattern& x) {
  const auto divides_by_length = [](const Node& node) {
    const std::optional<Match> m = match(number("n"), node.input(1));
    const Shape& summed = node.input(0).producer()->input(0).shape();
    return m && summed[-1] == Dim(int64_t(m->number("n")));
  };
  return any_of({last_axis("mean", x),
                 op("div", {last_axis("sum", x), number("length")}).where("division by the last axis' size", divides_by_length)});
}

Pattern concat_of_last(std::vector<Pattern> parts) {
  return op("concat", std::move(parts)).where("a concatenation along the last axis", [](const Node& node) {
    return is_last(node.attributes_as<Concat>().axis, node.output().shape().rank());
  });
}

std::optional<LastRange> last_range(const Node& slice) {
  const auto& s = slice.attributes_as<Slice>();
  const Shape& x = slice.input(0).shape();
  if (!is_last(s.axis, x.rank()) || s.step != 1 || !x[-1].is_constant()) return std::nullopt;
  const int64_t size = x[-1].value(), length = slice.output().shape()[-1].value();
  const int64_t begin = std::clamp<int64_t>(s.begin < 0 ? s.begin + size : s.begin, 0, size);
  return LastRange{begin, begin + length};
}

}  // namespace headrace
