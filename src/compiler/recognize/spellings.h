// What rules of recognition have in common: one idea, the ways to write it.
#pragma once

#include "headrace/rewrite.h"

namespace headrace {

// A constant of one element near `value`, as a literal of any precision gives it.
Pattern about(double value);
// x, or a cast of it to f32 that others may read too; `wide` is the name of what stands there, x's own pattern names x.
Pattern maybe_wide(Pattern x, std::string wide);
Pattern maybe_cast(Pattern x);  // x or a cast of it
Pattern square_of(const Pattern& x);
Pattern cube_of(const Pattern& x);
Pattern negative_of(const Pattern& x);
Pattern reciprocal_root_of(const Pattern& x);                              // 1 / sqrt(x)
Pattern product_of(const Pattern& a, const Pattern& b, const Pattern& c);  // in any order
// A reduction along the last axis that keeps it.
Pattern last_axis(std::string reduction, Pattern x);
Pattern mean_of(const Pattern& x);  // along the last axis; or the sum divided by how many there are

// A concatenation along the last axis.
Pattern concat_of_last(std::vector<Pattern> parts);

// The elements [begin, end) of its operand's last axis that a slice takes; nothing for other slices.
struct LastRange {
  int64_t begin, end;
  bool operator==(const LastRange&) const = default;
};
std::optional<LastRange> last_range(const Node& slice);

// Whether axis counts the last of `rank` axes.
inline bool is_last(int64_t axis, int rank) { return axis == -1 || axis == rank - 1; }

}  // namespace headrace
