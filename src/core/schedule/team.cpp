#include "core/schedule/team.h"

#include <cstdint>

#include "core/base/index.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

Rank Team::rank(Rank member) const { return view_->member(level_, (member + shift_) % size_); }

Team Team::rotated(Rank first) const {
  Team team = *this;
  team.shift_ = (shift_ + first) % size_;
  team.me_ = (me_ - first + size_) % size_;
  return team;
}

View::View(const Hierarchy& hierarchy, Rank rank, Rank root)
    : hierarchy_(&hierarchy), rank_(rank), places_(at(hierarchy.levels())) {
  std::int32_t mine = hierarchy.position_of(rank);
  std::int32_t roots = hierarchy.position_of(root);
  for (int level = hierarchy.levels() - 1; level >= 0; --level) {
    Place& place = places_[at(level)];
    place.group = hierarchy.group_of(level, mine);
    place.root_group = hierarchy.group_of(level, roots);
    place.children = hierarchy.children(level, place.group);
    place.child = mine - hierarchy.first_child(level, place.group);
    place.root_child = roots - hierarchy.first_child(level, place.root_group);
    place.first = place.group == place.root_group ? place.root_child : 0;
    place.lane = (place.child - place.first + place.children) % place.children;
    mine = place.group;
    roots = place.root_group;
  }
}

bool View::leads(int level) const {
  for (int below = level + 1; below < levels(); ++below) {
    if (lane(below) != 0) return false;
  }
  return true;
}

bool View::carries(int level) const {
  for (int below = level + 1; below < levels(); ++below) {
    if (lane(below) >= hierarchy_->width(below)) return false;
  }
  return true;
}

Team View::team(int level) const {
  const Place& place = places_[at(level)];
  return {*this, level, place.children, place.child};
}

Rank View::member(int level, Rank child) const {
  std::int32_t object = hierarchy_->first_child(level, places_[at(level)].group) + child;
  for (int below = level + 1; below < levels(); ++below) {
    const Place& place = places_[at(below)];
    const Rank first = object == place.root_group ? place.root_child : 0;
    const Rank chosen = (place.lane + first) % hierarchy_->children(below, object);
    object = hierarchy_->first_child(below, object) + chosen;
  }
  return hierarchy_->rank_at(object);
}

}  // namespace ranktree::core::schedule
