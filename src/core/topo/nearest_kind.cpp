#include "core/topo/nearest_kind.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include "core/topo/kind.h"

namespace ranktree::core::topo {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Letters to insert, delete or replace (V. I. Levenshtein, Binary codes capable of correcting deletions, insertions,
// and reversals, 1966), by rows of the table.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (same_letter(from[i], to[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_kind(std::string_view word) {
  std::string_view nearest;
  std::size_t least = word.size() / 2 + 1;
  for (int number = 0; number <= static_cast<int>(Kind::kPu); ++number) {
    const std::string_view name = kind_name(static_cast<Kind>(number));
    const std::size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

}  // namespace ranktree::core::topo
