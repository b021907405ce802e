// The allowed slots of a machine as a tree of even depth, by which the engine finds distances, and placements on them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::engine {

// A slot takes one rank: an allowed leaf, as often as it takes ranks. Slots are numbered from the left. Only levels
// that branch are kept, and of neighbouring levels of equal cost the upper one. Level 0 is one group of all slots,
// level levels() the slots themselves; a branch that skips a level has a group with a single child there, so the groups
// of each level are numbered from the left and the slots and children of a group are consecutive.
class SlotTree {
 public:
  using Slot = std::int32_t;
  using Group = std::int32_t;

  // Throws Error(kMismatch) when the machine has more than 2^31 - 1 slots.
  SlotTree(const topo::Tree& tree, const Constraints& constraints);

  [[nodiscard]] int levels() const { return static_cast<int>(cost_.size()); }
  [[nodiscard]] Slot slots() const { return static_cast<Slot>(leaf_.size()); }
  [[nodiscard]] topo::Leaf leaf(Slot slot) const { return leaf_[at(slot)]; }
  // The cost of two slots whose lowest common group is on this level.
  [[nodiscard]] double cost(int level) const { return cost_[at(level)]; }

  [[nodiscard]] Group groups(int level) const { return static_cast<Group>(first_slot_[at(level)].size()) - 1; }
  [[nodiscard]] Group group(int level, Slot slot) const { return group_[at(level)][at(slot)]; }
  [[nodiscard]] Slot first_slot(int level, Group group) const { return first_slot_[at(level)][at(group)]; }
  [[nodiscard]] Slot capacity(int level, Group group) const {
    return first_slot_[at(level)][at(group) + 1] - first_slot_[at(level)][at(group)];
  }
  // Children of a group are groups of level + 1: first_child .. first_child + child_count - 1.
  [[nodiscard]] Group first_child(int level, Group group) const {
    return group_[at(level) + 1][at(first_slot(level, group))];
  }
  [[nodiscard]] Group child_count(int level, Group group) const {
    return group_[at(level) + 1][at(first_slot(level, group + 1)) - 1] - first_child(level, group) + 1;
  }
  // Groups of a level that have the same form look the same from left to right; they can be swapped as they are.
  [[nodiscard]] std::int32_t form(int level, Group group) const { return form_[at(level)][at(group)]; }

  // The slots of pinned ranks: the first ones of a leaf that several ranks share.
  struct Pinned {
    pattern::Rank rank;
    Slot slot;
  };
  [[nodiscard]] const std::vector<Pinned>& pinned() const { return pinned_; }
  // True when a pinned rank is in the group, whose contents must not move then.
  [[nodiscard]] bool held(int level, Group group) const { return !held_.empty() && held_[at(level)][at(group)] != 0; }

  // Whether paths from the root fit 64 bits; a slot's, and the cost of two different ones by the width of the bits in
  // which they differ.
  [[nodiscard]] bool has_paths() const { return !code_.empty(); }
  [[nodiscard]] std::uint64_t path(Slot slot) const { return code_[at(slot)]; }
  [[nodiscard]] const std::array<double, 65>& cost_of_bit() const { return cost_of_bit_; }

  // The distance of two different slots. O(1), or O(levels) where the paths do not fit 64 bits.
  [[nodiscard]] double distance(Slot a, Slot b) const {
    if (code_.empty()) return slow_distance(a, b);
    return cost_of_bit_[static_cast<std::size_t>(std::bit_width(code_[at(a)] ^ code_[at(b)]))];
  }

 private:
  [[nodiscard]] double slow_distance(Slot a, Slot b) const;
  void collect_slots(const topo::Tree& tree, const Constraints& constraints);
  void choose_levels(const topo::Tree& tree, const Constraints& constraints);
  void number_groups(const topo::Tree& tree);
  void compare_forms();
  void encode_paths();
  void hold_pins(const Constraints& constraints);

  std::vector<topo::Leaf> leaf_;
  std::vector<int> level_in_tree_;
  std::vector<double> cost_;
  std::vector<std::vector<Group>> group_;      // level -> slot -> group
  std::vector<std::vector<Slot>> first_slot_;  // level -> group -> first slot, and the end
  std::vector<std::vector<std::int32_t>> form_;
  std::vector<Pinned> pinned_;
  std::vector<std::vector<std::uint8_t>> held_;  // level -> group; empty: no rank is pinned
  std::vector<std::uint64_t> code_;              // slot -> path from the root
  std::array<double, 65> cost_of_bit_{};
};

// The slots of a placement. Ranks that share a leaf have its slots in the order of ranks, pinned ones first.
std::vector<SlotTree::Slot> slots_of(const SlotTree& tree, const Placement& placement);

// Puts pinned ranks on their slots in a placement that ignored pins: first whole subtrees of the same form are
// exchanged, then single ranks. `pinned` may name vertices instead of ranks, as `slot_of` does.
void honour_pins(const SlotTree& tree, std::span<const SlotTree::Pinned> pinned, std::vector<SlotTree::Slot>& slot_of);

Placement placement_of(const SlotTree& tree, const std::vector<SlotTree::Slot>& slots);

// Keeps ranks on their leaves where that is free: among ranks that are alone on leaves of one parent, which may be
// exchanged at no cost in a tree, those whose leaf in `start` is one of these leaves get it back. O(ranks + leaves).
void keep_leaves(const topo::Tree& tree, const Placement& start, Placement& placement);

// Throws Error(kInput) when the start is not a placement.
void check_start(const topo::Tree& tree, const Placement& start, pattern::Rank ranks, const Constraints& constraints);

}  // namespace ranktree::core::place::engine
