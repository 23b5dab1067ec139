#include "cli/nearest.h"

#include <algorithm>

namespace headrace::cli {
namespace {

size_t mistakes(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));  // of their first i and j letters
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  if (word.size() > 64) return best;
  size_t fewest = (word.size() + 2) / 3 + 1;
  for (const std::string& candidate : known)
    if (const size_t n = mistakes(word, candidate); n < fewest) fewest = n, best = candidate;
  return best;
}

}  // namespace headrace::cli
