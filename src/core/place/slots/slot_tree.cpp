#include "core/place/slots/slot_tree.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/error.h"
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

}  // namespace ranktree::core::place::engine
