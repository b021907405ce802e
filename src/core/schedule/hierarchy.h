// Ranks in groups of groups: the input of the hierarchical transformation. A value, made once for a communicator and
// shared by all its schedules.
//
// A hierarchy of L levels: level 0 is across the outermost groups, level L-1 inside the innermost ones. On level l, the
// "children" of a group are the groups of the next level, or ranks on the last.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

class Hierarchy {
 public:
  // One level that holds the ranks in their order. O(1) memory.
  static Hierarchy flat(Rank ranks);

  // Two levels: `groups` runs of consecutive ranks whose sizes differ by one at most, the larger ones first
  // (hier-bcast-2014 §3, where the groups divide the ranks). O(groups). Throws Error(kInput) unless 1 <= groups <=
  // ranks.
  static Hierarchy grouped(Rank ranks, Rank groups);

  // From lists of colours, one for each level of splits, outermost first. Two ranks are in one group of a list if their
  // colours agree in this list and in all lists before it. The result has one level more than there are lists. Groups
  // are numbered by their lowest ranks. O(ranks x levels x log). Throws Error(kInput) when lists differ in length or
  // are empty.
  static Hierarchy from_colours(std::span<const std::vector<std::int32_t>> colours);

  // The number of levels, at least 1. Levels on which no group has two children are left out, so a hierarchy with one
  // group, or with groups of one rank, is flat and its schedules are those of the base algorithm.
  [[nodiscard]] int levels() const { return static_cast<int>(starts_.size()); }
  // The index a level had before others were left out: 0 .. number of lists of colours.
  [[nodiscard]] int given_level(int level) const { return given_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] int given_levels() const { return given_levels_; }
  [[nodiscard]] Rank ranks() const { return ranks_; }
  // True when every group is a run of consecutive ranks: combining group after group then keeps rank order.
  [[nodiscard]] bool in_rank_order() const { return order_.empty(); }

  // The children of group `group` of a level are numbered first_child() .. first_child()+children()-1 on the next.
  [[nodiscard]] std::int32_t first_child(int level, std::int32_t group) const { return start(level, group); }
  [[nodiscard]] std::int32_t children(int level, std::int32_t group) const {
    return start(level, group + 1) - start(level, group);
  }
  // The group a child belongs to. O(log groups).
  [[nodiscard]] std::int32_t group_of(int level, std::int32_t child) const;
  // The first position below a child of a level; for the number after the last child, the number of positions.
  // O(levels).
  [[nodiscard]] std::int32_t first_position(int level, std::int32_t child) const;
  // The fewest children that any group of a level has.
  [[nodiscard]] std::int32_t width(int level) const { return widths_[static_cast<std::size_t>(level)]; }
  // Children of the last level are positions of ranks in the hierarchy's order.
  [[nodiscard]] Rank rank_at(std::int32_t position) const {
    return order_.empty() ? position : order_[static_cast<std::size_t>(position)];
  }
  [[nodiscard]] std::int32_t position_of(Rank rank) const {
    return order_.empty() ? rank : position_[static_cast<std::size_t>(rank)];
  }

 private:
  [[nodiscard]] std::int32_t start(int level, std::int32_t group) const {
    return starts_[static_cast<std::size_t>(level)][static_cast<std::size_t>(group)];
  }
  void drop_trivial_levels();
  void measure_widths();

  Rank ranks_ = 1;
  int given_levels_ = 1;
  std::vector<int> given_;
  std::vector<std::vector<std::int32_t>> starts_;  // of each level: where each group's children begin, and the end
  std::vector<std::int32_t> widths_;
  std::vector<Rank> order_;             // position -> rank; empty: the same
  std::vector<std::int32_t> position_;  // rank -> position
};

}  // namespace ranktree::core::schedule
