// Where everybody is, told to those who need it.
#pragma once

#include <span>
#include <vector>

#include "core/reorder/division.h"
#include "core/reorder/network.h"
#include "core/split/chain.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {

// An object of the tree of all positions, and its level.
struct Step {
  int object = 0;
  int level = 0;
};

// The way from the root to a leaf, both included.
using Path = std::vector<Step>;

// The level of the lowest object on both ways.
int common_level(std::span<const Step> one, std::span<const Step> other);

struct Survey {
  // The same everywhere.
  std::vector<Part> parts;
  std::vector<topo::Level> levels;
  std::vector<double> cost;  // of a pair that meets on a level, by level
  // Of the ids held here, seen as processes.
  std::vector<int> leaf;
  std::vector<Path> path;
};

// Collective. `chains` of the ids held here. Id 0 collects all chains, 16 bytes a link, and makes the tree; everybody
// else gets its own path and the parts, one number of which there are for each `largest` leaves.
Survey survey(Network& network, const std::vector<split::Chain>& chains, int largest);

}  // namespace ranktree::core::reorder
