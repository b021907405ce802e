#include "core/schedule/hierarchy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {
namespace {

// The group of each rank after one more list of colours refines the groups. Groups are numbered by their lowest ranks.
std::vector<std::int32_t> refine(const std::vector<std::int32_t>& groups, const std::vector<std::int32_t>& colours) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> numbers;
  std::vector<std::int32_t> refined;
  refined.reserve(groups.size());
  for (std::size_t rank = 0; rank < groups.size(); ++rank) {
    const auto next = static_cast<std::int32_t>(numbers.size());
    refined.push_back(numbers.try_emplace({groups[rank], colours[rank]}, next).first->second);
  }
  return refined;
}

// Ranks by their groups, outermost first, then by number.
std::vector<Rank> order_of(const std::vector<std::vector<std::int32_t>>& groups) {
  std::vector<Rank> order(groups[0].size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&groups](Rank a, Rank b) {
    const auto differ =
        std::find_if(groups.begin(), groups.end(), [a, b](const auto& level) { return level[at(a)] != level[at(b)]; });
    return differ != groups.end() && (*differ)[at(a)] < (*differ)[at(b)];
  });
  return order;
}

// Where the children of each group begin, counted along the order. `below` has the groups of the next level, or one
// entry for every rank.
std::vector<std::int32_t> starts_of(const std::vector<Rank>& order, const std::vector<std::int32_t>& groups,
                                    const std::vector<std::int32_t>& below) {
  std::vector<std::int32_t> starts{0};
  std::int32_t child = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (below[at(order[i])] != below[at(order[i - 1])]) ++child;
    if (groups[at(order[i])] != groups[at(order[i - 1])]) starts.push_back(child);
  }
  starts.push_back(child + 1);
  return starts;
}

void check_colours(std::span<const std::vector<std::int32_t>> colours) {
  if (colours.empty() || colours[0].empty()) throw Error(Fault::kInput, "hierarchy: expected colours, found none");
  for (std::size_t level = 0; level < colours.size(); ++level) {
    if (colours[level].size() == colours[0].size()) continue;
    throw Error(Fault::kInput, "hierarchy: level " + std::to_string(level) + ": expected " +
                                   std::to_string(colours[0].size()) + " colours, found " +
                                   std::to_string(colours[level].size()));
  }
}

}  // namespace

Hierarchy Hierarchy::flat(Rank ranks) {
  if (ranks < 1) throw Error(Fault::kInput, "hierarchy: expected at least 1 rank, found " + std::to_string(ranks));
  Hierarchy made;
  made.ranks_ = ranks;
  made.given_ = {0};
  made.starts_ = {{0, ranks}};
  made.measure_widths();
  return made;
}

Hierarchy Hierarchy::grouped(Rank ranks, Rank groups) {
  if (groups < 1 || groups > ranks) {
    throw Error(Fault::kInput,
                "hierarchy: expected 1 to " + std::to_string(ranks) + " groups, found " + std::to_string(groups));
  }
  Hierarchy made;
  made.ranks_ = ranks;
  made.given_levels_ = 2;
  made.given_ = {0, 1};
  made.starts_ = {{0, groups}, {0}};
  const Range all{.first = 0, .count = ranks};
  for (Rank group = 0; group < groups; ++group) {
    const Range part = part_of(all, group, groups);
    made.starts_[1].push_back(static_cast<std::int32_t>(part.first + part.count));
  }
  made.drop_trivial_levels();
  made.measure_widths();
  return made;
}

Hierarchy Hierarchy::from_colours(std::span<const std::vector<std::int32_t>> colours) {
  check_colours(colours);
  Hierarchy made;
  made.ranks_ = static_cast<Rank>(colours[0].size());
  made.given_levels_ = static_cast<int>(colours.size()) + 1;
  std::vector<std::vector<std::int32_t>> groups{std::vector<std::int32_t>(colours[0].size(), 0)};
  for (const auto& level : colours) groups.push_back(refine(groups.back(), level));

  made.order_ = order_of(groups);
  std::vector<std::int32_t> alone(colours[0].size());
  std::iota(alone.begin(), alone.end(), 0);
  for (std::size_t level = 0; level < groups.size(); ++level) {
    made.starts_.push_back(
        starts_of(made.order_, groups[level], level + 1 < groups.size() ? groups[level + 1] : alone));
    made.given_.push_back(static_cast<int>(level));
  }
  if (std::is_sorted(made.order_.begin(), made.order_.end())) {
    made.order_.clear();
  } else {
    made.position_.resize(made.order_.size());
    for (std::size_t i = 0; i < made.order_.size(); ++i) made.position_[at(made.order_[i])] = static_cast<Rank>(i);
  }
  made.drop_trivial_levels();
  made.measure_widths();
  return made;
}

void Hierarchy::drop_trivial_levels() {
  for (std::size_t level = starts_.size(); level-- > 0 && starts_.size() > 1;) {
    // A level whose groups have one child each has the same group numbers as the level below.
    const auto groups = static_cast<std::int64_t>(starts_[level].size()) - 1;
    if (starts_[level].back() != groups) continue;
    starts_.erase(starts_.begin() + static_cast<std::ptrdiff_t>(level));
    given_.erase(given_.begin() + static_cast<std::ptrdiff_t>(level));
  }
}

void Hierarchy::measure_widths() {
  widths_.clear();
  for (const auto& starts : starts_) {
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (std::size_t group = 0; group + 1 < starts.size(); ++group) {
      least = std::min(least, starts[group + 1] - starts[group]);
    }
    widths_.push_back(least);
  }
}

std::int32_t Hierarchy::group_of(int level, std::int32_t child) const {
  const auto& starts = starts_[at(level)];
  return static_cast<std::int32_t>(std::upper_bound(starts.begin(), starts.end(), child) - starts.begin()) - 1;
}

std::int32_t Hierarchy::first_position(int level, std::int32_t child) const {
  for (int below = level + 1; below < levels(); ++below) child = start(below, child);
  return child;
}

}  // namespace ranktree::core::schedule
