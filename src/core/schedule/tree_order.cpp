#include "core/schedule/tree_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/schedule/bits.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "core/schedule/trees.h"

namespace ranktree::core::schedule {
namespace {

// The combined ranks begin .. middle-1 are combined with ranks middle .. end-1.
struct Merge {
  Rank begin = 0;
  Rank middle = 0;
  Rank end = 0;
  auto operator<=>(const Merge&) const = default;
};

// Combines neighbours until one run is left. The runs of ranks begin at bounds[0], bounds[1], ...
void append_doubling(const std::vector<Rank>& bounds, std::vector<Merge>& merges) {
  const std::size_t size = bounds.size() - 1;
  for (std::size_t distance = 1; distance < size; distance *= 2) {
    for (std::size_t first = 0; first + distance < size; first += 2 * distance) {
      merges.push_back({bounds[first], bounds[first + distance], bounds[std::min(first + 2 * distance, size)]});
    }
  }
}

// The tree of the header, over runs.
void append_tree(const std::vector<Rank>& bounds, std::vector<Merge>& merges) {
  const auto size = static_cast<Rank>(bounds.size() - 1);
  const Rank pairs = size - power_of_two_in(size);
  std::vector<Rank> left;
  for (Rank i = 0; i <= size; ++i) {
    if (i < 2 * pairs && i % 2 == 1) continue;
    left.push_back(bounds[static_cast<std::size_t>(i)]);
    if (i >= 2 * pairs) continue;
    const auto at = bounds.begin() + i;
    merges.push_back({at[0], at[1], at[2]});
  }
  append_doubling(left, merges);
}

// Appends what one level does in a group whose children are these runs; false where the order is not known.
bool append_level(Algorithm algorithm, const std::vector<Rank>& bounds, std::vector<Merge>& merges) {
  if (algorithm == Algorithm::kRabenseifner || algorithm == Algorithm::kRecursiveDoubling || bounds.size() <= 3) {
    append_tree(bounds, merges);
    return true;
  }
  if (algorithm != Algorithm::kBinomial) return false;
  append_doubling(bounds, merges);
  return true;
}

// The algorithm that combines on a level, where whole vectors move, by leaders or between equal indices.
Algorithm combining_algorithm(Collective collective, const Hierarchy& hierarchy, const Composition& composition,
                              int level) {
  const Algorithm named = composition.algorithm_of(hierarchy, level);
  const bool tree = collective != Collective::kReduce && composition.form == Form::kLeaders &&
                    (level > 0 || (collective == Collective::kAllreduce && is_tree(named)));
  if (tree) return is_tree(named) ? named : Algorithm::kBinomial;
  return fitting(collective, named);
}

std::vector<Rank> bounds_of(const Hierarchy& hierarchy, int level, std::int32_t group) {
  std::vector<Rank> bounds;
  const std::int32_t first = hierarchy.first_child(level, group);
  for (std::int32_t child = first; child <= first + hierarchy.children(level, group); ++child) {
    bounds.push_back(hierarchy.first_position(level, child));
  }
  return bounds;
}

}  // namespace

bool keeps_tree_order(Collective collective, Algorithm algorithm) {
  return !reduces(collective) || algorithm == Algorithm::kRabenseifner || algorithm == Algorithm::kRecursiveDoubling;
}

bool keeps_tree_order(Collective collective, const Hierarchy& hierarchy, const Composition& composition) {
  if (!reduces(collective)) return true;
  if (hierarchy.levels() == 1) {
    return keeps_tree_order(collective, fitting(collective, composition.algorithm_of(hierarchy, 0)));
  }
  if (!hierarchy.in_rank_order() || composition.form == Form::kLanes || collective == Collective::kReduceScatter)
    return false;
  std::vector<Merge> merges;
  std::int32_t groups = 1;
  for (int level = 0; level < hierarchy.levels(); ++level) {
    const Algorithm algorithm = combining_algorithm(collective, hierarchy, composition, level);
    std::int32_t children = 0;
    for (std::int32_t group = 0; group < groups; ++group) {
      if (!append_level(algorithm, bounds_of(hierarchy, level, group), merges)) return false;
      children += hierarchy.children(level, group);
    }
    groups = children;
  }
  std::vector<Rank> ranks(static_cast<std::size_t>(hierarchy.ranks()) + 1);
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<Rank>(i);
  std::vector<Merge> wanted;
  append_tree(ranks, wanted);
  std::sort(merges.begin(), merges.end());
  std::sort(wanted.begin(), wanted.end());
  return merges == wanted;
}

}  // namespace ranktree::core::schedule
