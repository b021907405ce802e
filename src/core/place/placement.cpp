#include "core/place/placement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using pattern::Rank;
using topo::Leaf;
using topo::Object;
using topo::Tree;

[[noreturn]] void refuse(const std::string& text) { throw Error(Fault::kMismatch, "placement: " + text); }

[[noreturn]] void refuse(Fault fault, const Pin& pin, const std::string& text) {
  throw Error(fault, "pins: rank " + std::to_string(pin.rank) + ": " + text);
}

// The slots of each node, in tree order. Without a Node level the children of the root count as nodes.
std::vector<std::vector<Leaf>> slots_by_node(const Tree& tree, const Constraints& constraints) {
  std::vector<std::vector<Leaf>> nodes;
  Object last = -1;
  for (const Leaf leaf : slots_of(tree, constraints)) {
    Object node = tree.node_of(leaf);
    if (node < 0) {
      node = tree.leaf_object(leaf);
      while (tree.parent(node) > 0) node = tree.parent(node);
    }
    if (nodes.empty() || node != last) nodes.emplace_back();
    last = node;
    nodes.back().push_back(leaf);
  }
  return nodes;
}

// Counts the free slots below every object and finds the free slot nearest to a leaf.
class FreeSlots {
 public:
  FreeSlots(const Tree& tree, const Constraints& constraints) : tree_(tree), free_(at(tree.object_count()), 0) {
    for (const Leaf leaf : slots_of(tree, constraints)) change(leaf, 1);
    first_.reserve(free_.size());
    for (Object object = 0; object < tree.object_count(); ++object) first_.push_back(tree.first_child(object));
  }

  // The first free slot, in logical order, below the lowest ancestor of `leaf` that has one; takes it. O(depth), and
  // O(objects) over all calls.
  Leaf take_near(Leaf leaf) {
    Object object = tree_.leaf_object(leaf);
    while (free_[at(object)] == 0) object = tree_.parent(object);
    while (tree_.child_count(object) > 0) {
      Object& child = first_[at(object)];
      while (free_[at(child)] == 0) ++child;
      object = child;
    }
    take(tree_.first_leaf(object));
    return tree_.first_leaf(object);
  }
  void take(Leaf leaf) { change(leaf, -1); }

 private:
  void change(Leaf leaf, int amount) {
    for (Object object = tree_.leaf_object(leaf); object >= 0; object = tree_.parent(object)) {
      free_[at(object)] += amount;
    }
  }

  const Tree& tree_;
  std::vector<std::int64_t> free_;
  std::vector<Object> first_;  // the first child of each object that may have a free slot: slots are never given back
};

// The rank to place next: the unplaced one most strongly tied to the placed ones; ties and fresh starts go to the
// larger total, then to the smaller rank. A heap with outdated entries left in.
class Frontier {
 public:
  explicit Frontier(const pattern::Affinity& affinity)
      : affinity_(affinity), tie_(at(affinity.ranks), 0), total_(at(affinity.ranks), 0), placed_(at(affinity.ranks)) {
    for (Rank rank = 0; rank < affinity.ranks; ++rank) {
      for (const double weight : affinity.weights_of(rank)) total_[at(rank)] += weight;
      push(rank);
    }
  }

  Rank next() {
    while (true) {
      const auto [key, rank] = heap_.top();
      heap_.pop();
      if (placed_[at(-rank)] == 0 && key.first == tie_[at(-rank)]) return -rank;
    }
  }

  void place(Rank rank) {
    placed_[at(rank)] = 1;
    const auto neighbours = affinity_.neighbours(rank);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (placed_[at(neighbours[i])] != 0) continue;
      tie_[at(neighbours[i])] += affinity_.weights_of(rank)[i];
      push(neighbours[i]);
    }
  }

  [[nodiscard]] bool is_placed(Rank rank) const { return placed_[at(rank)] != 0; }

 private:
  void push(Rank rank) { heap_.push({{tie_[at(rank)], total_[at(rank)]}, -rank}); }

  const pattern::Affinity& affinity_;
  std::vector<double> tie_, total_;
  std::vector<std::uint8_t> placed_;
  std::priority_queue<std::pair<std::pair<double, double>, Rank>> heap_;
};

}  // namespace

Cost evaluate(const Tree& tree, const pattern::Affinity& affinity, const Placement& placement) {
  Cost cost{std::vector<double>(at(tree.level_count()), 0), 0};
  const bool is_tree = tree.interconnect() == nullptr;
  for (Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto neighbours = affinity.neighbours(rank);
    const auto weights = affinity.weights_of(rank);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] <= rank) continue;  // each undirected pair once
      const Leaf here = placement.leaf_of[at(rank)];
      const Leaf there = placement.leaf_of[at(neighbours[i])];
      const int level = tree.common_level(here, there);
      cost.weight[at(level)] += weights[i];
      if (level == 0 && !is_tree) cost.total += weights[i] * tree.distance(here, there);
    }
  }
  for (int level = is_tree ? 0 : 1; level < tree.level_count(); ++level)
    cost.total += cost.weight[at(level)] * tree.cost(level);
  return cost;
}

void validate(const Tree& tree, const Placement& placement, Rank ranks, const Constraints& constraints) {
  if (placement.leaf_of.size() != at(ranks)) {
    refuse("expected " + std::to_string(ranks) + " ranks, found " + std::to_string(placement.leaf_of.size()));
  }
  std::vector<int> load(at(tree.leaf_count()), 0);
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Leaf leaf = placement.leaf_of[at(rank)];
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

std::vector<Leaf> slots_of(const Tree& tree, const Constraints& constraints) {
  std::vector<Leaf> slots;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (tree.allowed(leaf)) slots.insert(slots.end(), at(constraints.capacity), leaf);
  }
  return slots;
}

void require_slots(const Tree& tree, Rank ranks, const Constraints& constraints) {
  std::int64_t slots = 0;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) slots += tree.allowed(leaf) ? constraints.capacity : 0;
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

void check_pins(const Tree& tree, Rank ranks, const Constraints& constraints) {
  std::set<Rank> seen;
  std::map<Leaf, int> load;
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

Placement around_pins(const std::vector<Leaf>& slots, Rank ranks, const Constraints& constraints) {
  Placement placement{std::vector<Leaf>(at(ranks), -1)};
  std::map<Leaf, int> taken;
  for (const Pin& pin : constraints.pins) {
    placement.leaf_of[at(pin.rank)] = pin.leaf;
    ++taken[pin.leaf];
  }
  std::size_t next = 0;
  for (Leaf& leaf : placement.leaf_of) {
    if (leaf >= 0) continue;
    for (auto held = taken.find(slots[next]); held != taken.end() && held->second > 0; held = taken.find(slots[next])) {
      --held->second;
      ++next;
    }
    leaf = slots[next++];
  }
  return placement;
}

Placement identity(const Tree& tree, Rank ranks, const Constraints& constraints) {
  require_slots(tree, ranks, constraints);
  return around_pins(slots_of(tree, constraints), ranks, constraints);
}

Placement round_robin(const Tree& tree, Rank ranks, const Constraints& constraints) {
  require_slots(tree, ranks, constraints);
  const auto nodes = slots_by_node(tree, constraints);
  std::vector<Leaf> order;
  std::size_t most = 0;
  for (const auto& slots : nodes) most = std::max(most, slots.size());
  for (std::size_t round = 0; round < most; ++round) {
    for (const auto& slots : nodes) {
      if (round < slots.size()) order.push_back(slots[round]);
    }
  }
  return around_pins(order, ranks, constraints);
}

Placement random(const Tree& tree, Rank ranks, const Constraints& constraints, std::uint64_t seed) {
  require_slots(tree, ranks, constraints);
  auto slots = slots_of(tree, constraints);
  Random generator(seed);
  const std::size_t drawn = constraints.pins.empty() ? at(ranks) : slots.size();
  for (std::size_t i = 0; i < drawn; ++i) std::swap(slots[i], slots[i + generator.below(slots.size() - i)]);
  return around_pins(slots, ranks, constraints);
}

// One rank after another goes to the free slot nearest to the placed rank that it communicates with most. O((pairs + n
// depth arity) log n).
Placement greedy(const Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints) {
  require_slots(tree, affinity.ranks, constraints);
  FreeSlots free(tree, constraints);
  Frontier frontier(affinity);
  Placement placement{std::vector<Leaf>(at(affinity.ranks), -1)};
  for (const Pin& pin : constraints.pins) {
    free.take(placement.leaf_of[at(pin.rank)] = pin.leaf);
    frontier.place(pin.rank);
  }
  Leaf last = 0;
  for (auto step = static_cast<Rank>(constraints.pins.size()); step < affinity.ranks; ++step) {
    const Rank rank = frontier.next();
    const auto neighbours = affinity.neighbours(rank);
    const auto weights = affinity.weights_of(rank);
    Leaf near = last;
    double heaviest = 0;
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (!frontier.is_placed(neighbours[i]) || weights[i] <= heaviest) continue;
      heaviest = weights[i];
      near = placement.leaf_of[at(neighbours[i])];
    }
    last = placement.leaf_of[at(rank)] = free.take_near(near);
    frontier.place(rank);
  }
  return placement;
}

}  // namespace ranktree::core::place
