// The roofline: how fast a machine can go at most, given how many products are made per byte that is read; and how fast a model went.
// Williams, Waterman and Patterson 2009.
#pragma once

#include <string>
#include <vector>

namespace headrace::cli {

struct Roofline {
  std::string title;
  double read_gb_per_s = 0;
  double gmac_per_s = 0;  // 0: not known, the roof is bandwidth alone
  struct Point {
    char mark;
    std::string label;
    double macs_per_byte = 0, gmac_per_s = 0;
  };
  std::vector<Point> points;

  double roof(double macs_per_byte) const;
};

std::string roofline_text(const Roofline& roofline);
std::string roofline_svg(const Roofline& roofline);

}  // namespace headrace::cli
