// The tree of all slots, as much of it as each process needs.
#pragma once

#include <span>
#include <vector>

#include "core/reorder/network.h"
#include "core/reorder/slots.h"
#include "core/split/chain.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {

// Consecutive children of one object of the tree, or one object: the leaves first .. first + count - 1.
struct Part {
  int first = 0;
  int count = 0;
  int leader = 0;  // the rank at the first leaf
  int depth = 0;   // 0 for everything, one more with each division
  int left = -1;   // the two parts it is divided into, -1 where it is not
  int right = -1;
};

// Part 0 is everything; a part precedes those it is divided into. Children are never cut: where one object has most of
// the leaves the halves are unequal. Parts of at most `largest` leaves, at least 1, stay whole. O(parts x children).
std::vector<Part> divide(const Slots& slots, int largest);

// An object of the tree of all slots, and its level.
struct Step {
  int object = 0;
  int level = 0;
};

// From the root to a leaf, both included.
using Path = std::vector<Step>;

// The level of the lowest object on both paths.
int common_level(std::span<const Step> one, std::span<const Step> other);

struct Survey {
  // The same everywhere.
  std::vector<Part> parts;
  std::vector<topo::Level> levels;
  std::vector<double> cost;  // of a pair by the level of its lowest common ancestor
  // Of the ids held here, seen as processes.
  std::vector<int> slot;
  std::vector<Path> path;
};

// Collective. `chains` of the ids held here. Id 0 collects all chains, 16 bytes a link, and makes the tree; each id
// gets its own path and the list of parts, a few numbers for each `largest` leaves.
Survey survey(Network& network, const std::vector<split::Chain>& chains, int largest);

}  // namespace ranktree::core::reorder
