#include "core/place/slots/slot_tree.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::engine {

using topo::Leaf;
using topo::Object;
using topo::Tree;

SlotTree::SlotTree(const Tree& tree, const Constraints& constraints) {
  collect_slots(tree, constraints);
  choose_levels(tree, constraints);
  number_groups(tree);
  compare_forms();
  encode_paths();
  hold_pins(constraints);
}

void SlotTree::collect_slots(const Tree& tree, const Constraints& constraints) {
  std::int64_t leaves = 0;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) leaves += tree.allowed(leaf) ? 1 : 0;
  constexpr std::int64_t kMost = std::numeric_limits<Slot>::max();
  if (constraints.capacity > 0 && leaves > kMost / constraints.capacity) {
    throw Error(Fault::kMismatch, "machine: expected at most " + std::to_string(kMost) + " slots, found " +
                                      std::to_string(leaves) + " leaves with " + std::to_string(constraints.capacity) +
                                      " each");
  }
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (tree.allowed(leaf)) leaf_.insert(leaf_.end(), at(constraints.capacity), leaf);
  }
}

void SlotTree::choose_levels(const Tree& tree, const Constraints& constraints) {
  std::vector<int> usable_children(at(tree.object_count()), 0);
  std::vector<bool> branches(at(tree.level_count()), false);
  for (Object object = tree.object_count() - 1; object >= 0; --object) {
    const bool leaf = tree.child_count(object) == 0;
    const bool usable = leaf ? tree.allowed(tree.first_leaf(object)) : usable_children[at(object)] > 0;
    if (usable && object > 0) ++usable_children[at(tree.parent(object))];
    if (usable_children[at(object)] > 1) branches[at(tree.level_of(object))] = true;
  }
  branches.back() = constraints.capacity > 1;
  for (int level = 0; level < tree.level_count(); ++level) {
    if (!branches[at(level)] || (!cost_.empty() && cost_.back() == tree.cost(level))) continue;
    level_in_tree_.push_back(level);
    cost_.push_back(tree.cost(level));
  }
}

// A group is the highest object above its slots that is on its level or deeper.
void SlotTree::number_groups(const Tree& tree) {
  const Slot count = slots();
  group_.assign(at(levels()) + 1, std::vector<Group>(at(count)));
  first_slot_.assign(at(levels()) + 1, {});
  std::vector<Object> key(at(levels()));
  std::vector<Object> last(at(levels()), -1);
  for (Slot slot = 0; slot < count; ++slot) {
    int level = levels();
    for (Object object = tree.leaf_object(leaf(slot)); object >= 0; object = tree.parent(object)) {
      while (level > 0 && level_in_tree_[at(level) - 1] > tree.level_of(object)) --level;
      for (int i = level - 1; i >= 0; --i) key[at(i)] = object;
    }
    for (int i = 0; i < levels(); ++i) {
      if (i == 0 ? slot == 0 : key[at(i)] != last[at(i)]) first_slot_[at(i)].push_back(slot);
      group_[at(i)][at(slot)] = static_cast<Group>(first_slot_[at(i)].size()) - 1;
    }
    last = key;
    first_slot_.back().push_back(slot);
    group_.back()[at(slot)] = slot;
  }
  for (auto& first : first_slot_) first.push_back(count);
}

void SlotTree::compare_forms() {
  form_.assign(at(levels()) + 1, {});
  form_.back().assign(at(slots()), 0);
  for (int level = levels() - 1; level >= 0; --level) {
    std::map<std::vector<std::int32_t>, std::int32_t> known;
    const auto& below = form_[at(level) + 1];
    for (Group group = 0; group < groups(level); ++group) {
      const auto begin = below.begin() + first_child(level, group);
      const std::vector<std::int32_t> children(begin, begin + child_count(level, group));
      form_[at(level)].push_back(known.try_emplace(children, static_cast<std::int32_t>(known.size())).first->second);
    }
  }
}

void SlotTree::encode_paths() {
  std::vector<int> width(at(levels()), 0);
  for (int level = 0; level < levels(); ++level) {
    for (Group group = 0; group < groups(level); ++group) {
      const auto last = static_cast<std::uint32_t>(child_count(level, group) - 1);
      width[at(level)] = std::max(width[at(level)], static_cast<int>(std::bit_width(last)));
    }
  }
  if (std::accumulate(width.begin(), width.end(), 0) > 64) return;
  code_.assign(at(slots()), 0);
  int bit = 0;
  for (int level = levels() - 1; level >= 0; --level) {
    for (Slot slot = 0; slot < slots(); ++slot) {
      const Group child = group(level + 1, slot) - first_child(level, group(level, slot));
      code_[at(slot)] |= width[at(level)] == 0 ? 0 : static_cast<std::uint64_t>(child) << static_cast<unsigned>(bit);
    }
    for (int i = 0; i < width[at(level)]; ++i) cost_of_bit_[at(++bit)] = cost(level);
  }
}

void SlotTree::hold_pins(const Constraints& constraints) {
  if (constraints.pins.empty()) return;
  std::map<Leaf, Slot> next;
  for (Slot slot = slots(); slot-- > 0;) next[leaf(slot)] = slot;
  for (int level = 0; level <= levels(); ++level) held_.emplace_back(at(groups(level)), std::uint8_t{0});
  for (const Pin& pin : constraints.pins) {
    const Slot slot = next[pin.leaf]++;
    pinned_.push_back({pin.rank, slot});
    for (int level = 0; level <= levels(); ++level) held_[at(level)][at(group(level, slot))] = 1;
  }
}

double SlotTree::slow_distance(Slot a, Slot b) const {
  int level = levels() - 1;
  while (group(level, a) != group(level, b)) --level;
  return cost(level);
}

std::vector<SlotTree::Slot> slots_of(const SlotTree& tree, const Placement& placement) {
  std::vector<SlotTree::Slot> next;  // by leaf
  for (SlotTree::Slot slot = tree.slots(); slot-- > 0;) {
    const auto leaf = at(tree.leaf(slot));
    if (next.size() <= leaf) next.resize(leaf + 1);
    next[leaf] = slot;
  }
  std::vector<SlotTree::Slot> slots(placement.leaf_of.size(), -1);
  for (const SlotTree::Pinned& pinned : tree.pinned()) {
    slots[at(pinned.rank)] = pinned.slot;
    ++next[at(tree.leaf(pinned.slot))];
  }
  for (std::size_t rank = 0; rank < slots.size(); ++rank) {
    if (slots[rank] < 0) slots[rank] = next[at(placement.leaf_of[rank])]++;
  }
  return slots;
}

namespace {

using Slot = SlotTree::Slot;
using Group = SlotTree::Group;

// Exchanges the contents of groups, then of slots, until all pinned ranks are on their slots.
class PinExchange {
 public:
  PinExchange(const SlotTree& tree, std::span<const SlotTree::Pinned> pinned, std::vector<Slot>& slot_of)
      : tree_(tree), pinned_(pinned), slot_of_(slot_of), at_slot_(at(tree.slots()), -1) {
    for (std::size_t i = 0; i < slot_of.size(); ++i) at_slot_[at(slot_of[i])] = static_cast<std::int32_t>(i);
  }

  // From the root down, permutes the contents of sibling groups of the same form so that most pinned ranks are in their
  // group; then exchanges the remaining ones one by one.
  void run() {
    for (int level = 0; level < tree_.levels(); ++level) {
      for (Group group = 0; group < tree_.groups(level); ++group) {
        if (tree_.held(level, group)) permute_children(level, group);
      }
    }
    for (const SlotTree::Pinned& pinned : pinned_) swap_slots(slot_of_[at(pinned.rank)], pinned.slot);
  }

 private:
  void permute_children(int level, Group group) {
    std::map<std::pair<Group, Group>, int> count;  // pinned ranks that are below a child and belong below another
    for (const SlotTree::Pinned& pinned : pinned_) {
      const Slot now = slot_of_[at(pinned.rank)];
      if (tree_.group(level, now) != group || tree_.group(level, pinned.slot) != group) continue;
      ++count[{tree_.group(level + 1, now), tree_.group(level + 1, pinned.slot)}];
    }
    std::vector<std::pair<int, std::pair<Group, Group>>> wishes;
    wishes.reserve(count.size());
    for (const auto& [pair, ranks] : count) wishes.emplace_back(-ranks, pair);
    std::sort(wishes.begin(), wishes.end());
    std::map<Group, Group> place_of;  // where the contents of a child are now, for those moved
    std::set<Group> settled_from;
    std::set<Group> settled_to;
    for (const auto& [ranks, pair] : wishes) {
      const auto [from, to] = pair;
      if (settled_from.contains(from) || settled_to.contains(to)) continue;
      if (tree_.form(level + 1, from) != tree_.form(level + 1, to)) continue;
      settled_from.insert(from);
      settled_to.insert(to);
      exchange(level + 1, place_of.try_emplace(from, from).first->second, to, place_of);
    }
  }

  // Exchanges the contents of `now` and `to`.
  void exchange(int level, Group now, Group to, std::map<Group, Group>& place_of) {
    if (now == to) return;
    Group other = to;  // whose contents are at `to`
    for (const auto& [child, place] : place_of) {
      if (place == to) other = child;
    }
    for (auto& [child, place] : place_of) {
      if (place == now) place = to;
    }
    place_of[other] = now;
    const Slot here = tree_.first_slot(level, now);
    const Slot there = tree_.first_slot(level, to);
    for (Slot i = 0; i < tree_.capacity(level, now); ++i) swap_slots(here + i, there + i);
  }

  void swap_slots(Slot a, Slot b) {
    std::swap(at_slot_[at(a)], at_slot_[at(b)]);
    for (const Slot slot : {a, b}) {
      if (at_slot_[at(slot)] >= 0) slot_of_[at(at_slot_[at(slot)])] = slot;
    }
  }

  const SlotTree& tree_;
  std::span<const SlotTree::Pinned> pinned_;
  std::vector<Slot>& slot_of_;
  std::vector<std::int32_t> at_slot_;  // by slot: rank or vertex, -1: free
};

}  // namespace

void honour_pins(const SlotTree& tree, std::span<const SlotTree::Pinned> pinned, std::vector<Slot>& slot_of) {
  if (!pinned.empty()) PinExchange(tree, pinned, slot_of).run();
}

Placement placement_of(const SlotTree& tree, const std::vector<SlotTree::Slot>& slots) {
  Placement placement;
  placement.leaf_of.reserve(slots.size());
  for (const SlotTree::Slot slot : slots) placement.leaf_of.push_back(tree.leaf(slot));
  return placement;
}

void keep_leaves(const topo::Tree& tree, const Placement& start, Placement& placement) {
  constexpr pattern::Rank kNoRank = -1;
  constexpr pattern::Rank kSeveral = -2;
  const auto ranks = static_cast<pattern::Rank>(placement.leaf_of.size());
  std::vector<pattern::Rank> rank_at(at(tree.leaf_count()), kNoRank);
  for (pattern::Rank rank = 0; rank < ranks; ++rank) {
    pattern::Rank& there = rank_at[at(placement.leaf_of[at(rank)])];
    there = there == kNoRank ? rank : kSeveral;
  }
  const auto parent = [&tree](topo::Leaf leaf) { return tree.parent(tree.leaf_object(leaf)); };
  for (pattern::Rank rank = 0; rank < ranks; ++rank) {
    const topo::Leaf home = start.leaf_of[at(rank)];
    const topo::Leaf now = placement.leaf_of[at(rank)];
    if (home == now || parent(home) != parent(now) || rank_at[at(now)] != rank) continue;
    const pattern::Rank other = rank_at[at(home)];
    if (other == kSeveral || (other != kNoRank && start.leaf_of[at(other)] == home)) continue;
    placement.leaf_of[at(rank)] = home;
    rank_at[at(home)] = rank;
    if (other != kNoRank) placement.leaf_of[at(other)] = now;
    rank_at[at(now)] = other;
  }
}

void check_start(const topo::Tree& tree, const Placement& start, pattern::Rank ranks, const Constraints& constraints) {
  try {
    validate(tree, start, ranks, constraints);
  } catch (const Error& error) {
    throw Error(Fault::kInput, std::string("start: ") + error.what());
  }
}

}  // namespace ranktree::core::place::engine
