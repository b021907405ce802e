#include "core/place/slots/start.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/slots/slot_tree.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

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
  constexpr pattern::Rank kNone = -1;
  constexpr pattern::Rank kSeveral = -2;
  const auto ranks = static_cast<pattern::Rank>(placement.leaf_of.size());
  std::vector<pattern::Rank> rank_at(at(tree.leaf_count()), kNone);
  for (pattern::Rank rank = 0; rank < ranks; ++rank) {
    pattern::Rank& there = rank_at[at(placement.leaf_of[at(rank)])];
    there = there == kNone ? rank : kSeveral;
  }
  const auto parent = [&tree](topo::Leaf leaf) { return tree.parent(tree.leaf_object(leaf)); };
  for (pattern::Rank rank = 0; rank < ranks; ++rank) {
    const topo::Leaf home = start.leaf_of[at(rank)];
    const topo::Leaf now = placement.leaf_of[at(rank)];
    if (home == now || parent(home) != parent(now) || rank_at[at(now)] != rank) continue;
    const pattern::Rank other = rank_at[at(home)];
    if (other == kSeveral || (other != kNone && start.leaf_of[at(other)] == home)) continue;
    placement.leaf_of[at(rank)] = home;
    rank_at[at(home)] = rank;
    if (other != kNone) placement.leaf_of[at(other)] = now;
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
