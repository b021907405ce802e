#include "core/place/placement.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] void refuse(const std::string& text) { throw Error(Fault::kMismatch, "placement: " + text); }

[[noreturn]] void refuse(Fault fault, const Pin& pin, const std::string& text) {
  throw Error(fault, "pins: rank " + std::to_string(pin.rank) + ": " + text);
}

}  // namespace

Cost evaluate(const topo::Tree& tree, const pattern::Affinity& affinity, const Placement& placement) {
  Cost cost{std::vector<double>(at(tree.level_count()), 0), 0};
  const bool is_tree = tree.interconnect() == nullptr;
  for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto neighbours = affinity.neighbours(rank);
    const auto weights = affinity.weights_of(rank);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] <= rank) continue;  // each undirected pair once
      const topo::Leaf here = placement.leaf_of[at(rank)];
      const topo::Leaf there = placement.leaf_of[at(neighbours[i])];
      const int level = tree.common_level(here, there);
      cost.weight[at(level)] += weights[i];
      if (level == 0 && !is_tree) cost.total += weights[i] * tree.distance(here, there);
    }
  }
  for (int level = is_tree ? 0 : 1; level < tree.level_count(); ++level)
    cost.total += cost.weight[at(level)] * tree.cost(level);
  return cost;
}

void validate(const topo::Tree& tree, const Placement& placement, pattern::Rank ranks, const Constraints& constraints) {
  if (placement.leaf_of.size() != at(ranks)) {
    refuse("expected " + std::to_string(ranks) + " ranks, found " + std::to_string(placement.leaf_of.size()));
  }
  std::vector<int> load(at(tree.leaf_count()), 0);
  for (pattern::Rank rank = 0; rank < ranks; ++rank) {
    const topo::Leaf leaf = placement.leaf_of[at(rank)];
    const std::string place = "rank " + std::to_string(rank);
    if (leaf < 0 || leaf >= tree.leaf_count()) {
      refuse(place + ": expected a leaf in 0.." + std::to_string(tree.leaf_count() - 1) + ", found " +
             std::to_string(leaf));
    }
    if (!tree.allowed(leaf)) refuse(place + ": leaf " + std::to_string(leaf) + " may not be used");
    if (++load[at(leaf)] > constraints.capacity) {
      refuse(place + ": leaf " + std::to_string(leaf) + " already holds " + std::to_string(constraints.capacity));
    }
  }
  for (const Pin& pin : constraints.pins) {
    if (pin.rank >= 0 && pin.rank < ranks && placement.leaf_of[at(pin.rank)] == pin.leaf) continue;
    refuse("rank " + std::to_string(pin.rank) + " is pinned to leaf " + std::to_string(pin.leaf) + ", found elsewhere");
  }
}

std::vector<topo::Leaf> slots_of(const topo::Tree& tree, const Constraints& constraints) {
  std::vector<topo::Leaf> slots;
  for (topo::Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (tree.allowed(leaf)) slots.insert(slots.end(), at(constraints.capacity), leaf);
  }
  return slots;
}

void require_slots(const topo::Tree& tree, pattern::Rank ranks, const Constraints& constraints) {
  const auto slots = static_cast<std::int64_t>(slots_of(tree, constraints).size());
  if (ranks <= slots) {
    check_pins(tree, ranks, constraints);
    return;
  }
  if (slots == 0) {
    throw Error(Fault::kMismatch,
                "machine: expected an allowed slot, found none: all are forbidden, or fewer are together than "
                "the threads of a rank");
  }
  throw Error(Fault::kMismatch, "machine: expected at least " + std::to_string(ranks) +
                                    " slots for the pattern's ranks, found " + std::to_string(slots) +
                                    "; name a larger machine or allow oversubscription");
}

void check_pins(const topo::Tree& tree, pattern::Rank ranks, const Constraints& constraints) {
  std::set<pattern::Rank> seen;
  std::map<topo::Leaf, int> load;
  for (const Pin& pin : constraints.pins) {
    if (pin.rank < 0 || pin.rank >= ranks) {
      throw Error(Fault::kInput,
                  "pins: expected ranks in 0.." + std::to_string(ranks - 1) + ", found " + std::to_string(pin.rank));
    }
    if (!seen.insert(pin.rank).second) refuse(Fault::kInput, pin, "expected one pin, found another");
    if (pin.leaf < 0 || pin.leaf >= tree.leaf_count()) {
      refuse(Fault::kInput, pin,
             "expected a leaf in 0.." + std::to_string(tree.leaf_count() - 1) + ", found " + std::to_string(pin.leaf));
    }
    if (!tree.allowed(pin.leaf)) {
      refuse(Fault::kMismatch, pin, "leaf " + std::to_string(pin.leaf) + " may not be used");
    }
    if (++load[pin.leaf] > constraints.capacity) {
      refuse(Fault::kMismatch, pin,
             "leaf " + std::to_string(pin.leaf) + " already holds " + std::to_string(constraints.capacity));
    }
  }
}

Placement around_pins(const std::vector<topo::Leaf>& slots, pattern::Rank ranks, const Constraints& constraints) {
  Placement placement{std::vector<topo::Leaf>(at(ranks), -1)};
  std::map<topo::Leaf, int> taken;
  for (const Pin& pin : constraints.pins) {
    placement.leaf_of[at(pin.rank)] = pin.leaf;
    ++taken[pin.leaf];
  }
  std::size_t next = 0;
  for (topo::Leaf& leaf : placement.leaf_of) {
    if (leaf >= 0) continue;
    for (auto held = taken.find(slots[next]); held != taken.end() && held->second > 0; held = taken.find(slots[next])) {
      --held->second;
      ++next;
    }
    leaf = slots[next++];
  }
  return placement;
}

}  // namespace ranktree::core::place
