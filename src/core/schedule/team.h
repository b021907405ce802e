// The ranks that do one part of a schedule together: a view, never a list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/index.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

class View;

// Members are numbered 0 .. size()-1; a copy may be rotated so that it numbers another member 0.
class Team {
 public:
  [[nodiscard]] Rank size() const { return size_; }
  // The number of this rank in the team.
  [[nodiscard]] Rank me() const { return me_; }
  // The rank of a member. O(levels).
  [[nodiscard]] Rank rank(Rank member) const;
  // The same members, numbered cyclically from `first`.
  [[nodiscard]] Team rotated(Rank first) const;

 private:
  friend class View;
  Team(const View& view, int level, Rank size, Rank me) : view_(&view), level_(level), size_(size), me_(me) {}

  const View* view_;
  int level_;
  Rank size_;
  Rank me_;
  Rank shift_ = 0;
};

// The hierarchy as one rank sees it, for operations with a root. On every level the child that holds the root is number
// 0 in its group; children elsewhere have the hierarchy's numbers. O(levels) memory. Teams point to their view.
class View {
 public:
  View(const Hierarchy& hierarchy, Rank rank, Rank root);

  [[nodiscard]] const Hierarchy& hierarchy() const { return *hierarchy_; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] int levels() const { return static_cast<int>(places_.size()); }

  // The index of this rank's child in its group of a level, counted from the root's child.
  [[nodiscard]] Rank lane(int level) const { return places_[at(level)].lane; }
  // The group of the level that contains this rank, directly or through its leaders.
  [[nodiscard]] std::int32_t group(int level) const { return places_[at(level)].group; }
  [[nodiscard]] Rank children(int level) const { return places_[at(level)].children; }
  // The child that counts as first: the root's, or 0.
  [[nodiscard]] Rank first(int level) const { return places_[at(level)].first; }

  // True for the first rank of its group of the level below `level`: it is in that level's team of leaders.
  [[nodiscard]] bool leads(int level) const;
  // True when the rank is in one of the first `width` lanes on every level below `level`.
  [[nodiscard]] bool carries(int level) const;

  // One rank from each child of this rank's group of a level: those in the same lanes below as this rank. Members have
  // the hierarchy's numbers; first() is the member that counts as first.
  [[nodiscard]] Team team(int level) const;

 private:
  friend class Team;
  struct Place {
    std::int32_t group = 0;
    Rank children = 0;
    Rank child = 0;  // the hierarchy's number
    Rank first = 0;
    Rank lane = 0;
    std::int32_t root_group = 0;  // the root's group on this level
    Rank root_child = 0;
  };
  [[nodiscard]] Rank member(int level, Rank child) const;

  const Hierarchy* hierarchy_;
  Rank rank_;
  std::vector<Place> places_;
};

}  // namespace ranktree::core::schedule
