#include "cli/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headrace::cli {
namespace {

// Both axes are logarithmic; this is what they span.
struct Span {
  double low, high;
  double place(double value) const { return std::log(value / low) / std::log(high / low); }  // 0 to 1
  double value(double place) const { return low * std::pow(high / low, place); }
};

struct Axes {
  Span x, y;
};

Axes axes_of(const Roofline& r) {
  double x_low = 0.5, x_high = 4;
  for (const auto& p : r.points) x_low = std::min(x_low, p.macs_per_byte / 2), x_high = std::max(x_high, p.macs_per_byte * 2);
  if (r.gmac_per_s > 0) x_high = std::max(x_high, 4 * r.gmac_per_s / r.read_gb_per_s);
  const double y_high = r.roof(x_high) * 1.6;
  double y_low = r.roof(x_low) / 4;
  for (const auto& p : r.points) y_low = std::min(y_low, p.gmac_per_s / 2);
  return {{x_low, x_high}, {y_low, y_high}};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

// Three digits, and never an exponent for what a machine reaches.
std::string tick(double value) { return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value); }

std::string roof_words(const Roofline& r) {
  return r.gmac_per_s > 0 ? fmt::format("{:.1f} GB/s read, {:.0f} GMAC/s", r.read_gb_per_s, r.gmac_per_s)
                          : fmt::format("{:.1f} GB/s read", r.read_gb_per_s);
}

}  // namespace

double Roofline::roof(double macs_per_byte) const {
  const double by_memory = macs_per_byte * read_gb_per_s;
  return gmac_per_s > 0 ? std::min(by_memory, gmac_per_s) : by_memory;
}

std::string roofline_text(const Roofline& r) {
  constexpr int kColumns = 64, kRows = 14;
  const Axes axes = axes_of(r);
  std::vector<std::string> grid(kRows, std::string(kColumns, ' '));
  const auto row_of = [&](double y) { return std::clamp(kRows - 1 - int(std::lround(axes.y.place(y) * (kRows - 1))), 0, kRows - 1); };
  for (int c = 0; c < kColumns; ++c) {
    const double x = axes.x.value(double(c) / (kColumns - 1));
    const bool flat = r.gmac_per_s > 0 && x * r.read_gb_per_s > r.gmac_per_s;
    grid[size_t(row_of(r.roof(x)))][size_t(c)] = flat ? '-' : '/';
  }
  for (const auto& p : r.points)
    if (p.macs_per_byte > 0 && p.gmac_per_s > 0)
      grid[size_t(row_of(p.gmac_per_s))]
          [size_t(std::clamp(int(std::lround(axes.x.place(p.macs_per_byte) * (kColumns - 1))), 0, kColumns - 1))] = p.mark;

  std::string out = fmt::format("{}: the roof is {}\n", r.title, roof_words(r));
  for (int row = 0; row < kRows; ++row) {
    const double y = axes.y.value(double(kRows - 1 - row) / (kRows - 1));
    out += fmt::format("{:>9} |{}\n", row % 4 == 0 ? tick(y) : "", grid[size_t(row)]);
  }
  out += fmt::format("  GMAC/s  +{}\n{:10}{:<{}}{:>20} MACs per byte\n", std::string(kColumns, '-'), "", tick(axes.x.low), kColumns - 18,
                     tick(axes.x.high));
  for (const auto& p : r.points)
    out += fmt::format("  {}  {:<42} {:8.1f} GMAC/s, {:5.1f} % of the roof\n", p.mark, p.label, p.gmac_per_s,
                       100 * p.gmac_per_s / r.roof(p.macs_per_byte));
  return out;
}

std::string roofline_svg(const Roofline& r) {
  constexpr double kLeft = 80, kTop = 60, kWidth = 620, kHeight = 380;
  const Axes axes = axes_of(r);
  const auto x_of = [&](double x) { return kLeft + kWidth * axes.x.place(x); };
  const auto y_of = [&](double y) { return kTop + kHeight * (1 - axes.y.place(y)); };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 {0}\" width=\"760\" height=\"{0}\">\n"
      "<style>text{{font:12px "
      "sans-serif;fill:#222}}.t{{font-size:16px;font-weight:bold}}.g{{stroke:#ddd}}.r{{fill:none;stroke:#c0392b;stroke-width:2}}</style>\n"
      "<rect width=\"760\" height=\"{0}\" fill=\"white\"/>\n<text x=\"{1}\" y=\"30\" class=\"t\">{2}</text>\n<text x=\"{1}\" "
      "y=\"48\">roof: {3}</text>\n",
      kTop + kHeight + 70 + 18 * double(r.points.size()), kLeft, escaped(r.title), roof_words(r));
  for (const auto& [span, vertical] : {std::pair{axes.x, true}, {axes.y, false}})
    for (double tick = std::pow(10, std::ceil(std::log10(span.low))); tick <= span.high; tick *= 10)
      out += vertical ? fmt::format(
                            "<line class=\"g\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
                            "text-anchor=\"middle\">{4:g}</text>\n",
                            x_of(tick), kTop, kTop + kHeight, kTop + kHeight + 18, tick)
                      : fmt::format(
                            "<line class=\"g\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/><text x=\"{3}\" y=\"{0:.1f}\" "
                            "text-anchor=\"end\">{4:g}</text>\n",
                            y_of(tick), kLeft, kLeft + kWidth, kLeft - 8, tick);
  std::string path = fmt::format("M{:.1f} {:.1f}", x_of(axes.x.low), y_of(r.roof(axes.x.low)));
  if (r.gmac_per_s > 0) path += fmt::format("L{:.1f} {:.1f}", x_of(r.gmac_per_s / r.read_gb_per_s), y_of(r.gmac_per_s));
  out += fmt::format("<path class=\"r\" d=\"{}L{:.1f} {:.1f}\"/>\n", path, x_of(axes.x.high), y_of(r.roof(axes.x.high)));
  double y = kTop + kHeight + 58;
  for (const auto& p : r.points) {
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"9\" fill=\"#2e6da4\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
        "style=\"fill:white\">{}</text>\n",
        x_of(p.macs_per_byte), y_of(p.gmac_per_s), x_of(p.macs_per_byte), y_of(p.gmac_per_s) + 4, p.mark);
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}: {}, {:.1f} GMAC/s, {:.1f} % of the roof</text>\n", kLeft, y, p.mark, escaped(p.label),
                       p.gmac_per_s, 100 * p.gmac_per_s / r.roof(p.macs_per_byte));
    y += 18;
  }
  return out + fmt::format(
                   "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">products per byte read (MACs/byte)</text>\n<text x=\"{}\" "
                   "y=\"{}\">GMAC/s</text>\n</svg>\n",
                   kLeft + kWidth / 2, kTop + kHeight + 38, 16, kTop - 8);
}

}  // namespace headrace::cli
