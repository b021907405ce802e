// What no placement can cost less than, so that a user knows when to stop searching.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

// A lower bound on evaluate().total of every placement of the ranks on the tree's allowed leaves
// (docs/explanation/placement-engine.md).
//
// A subtree with room for c ranks holds at most c - 1 partners of each of its ranks. What a rank exchanges beyond its
// heaviest c - 1 pairs therefore leaves the subtree, wherever the rank sits: half the sum over all ranks, since a pair
// has two ends, crosses the level's subtrees. A pair that meets on a level crosses all levels below it, so a level
// weighs what its cost is more than the next one's. Costs that grow inwards are taken as low as the lowest outside.
//
// Where subtrees have room for all partners of most ranks, that is little, and what Spreading bounds is taken instead.
//
// Exact where the pattern's blocks nest as the subtrees do and all have room for the same number of ranks. O(pairs +
// ranks x levels) on average, and limited work a level for Spreading. Sums are doubles: exact for whole numbers up to
// 2^53, else true up to rounding.
// Throws Error(kMismatch) when the ranks do not fit.
double lower_bound(const topo::Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints);

// The part of it that looks at single ranks, for those who hold no lists.
class LeavingBound {
 public:
  LeavingBound(const topo::Tree& tree, const Constraints& constraints);

  // What one rank exchanges with each other; reordered.
  void add(std::vector<double>& weights);
  [[nodiscard]] double cost() const;

  // The subtrees whose pairs meet on one level or below it, and what a unit of weight between two of them costs more.
  struct Level {
    std::int64_t room = 0;  // ranks that the largest of them takes
    double cost = 0;
    double crossing = 0;  // at least so much is exchanged between them
  };
  std::vector<Level>& levels() { return levels_; }  // outermost first

 private:
  std::vector<Level> levels_;
};

}  // namespace ranktree::core::place
