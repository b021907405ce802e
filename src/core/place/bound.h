// A lower bound on the cost of all placements, which shows how much a longer search can gain.
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
// A subtree with c slots can hold at most c - 1 partners of a rank, so at least the rank's remaining traffic crosses
// the subtree's boundary. Half of the sum over all ranks crosses the level's subtrees, since a pair has two ends. A
// pair whose lowest common ancestor is on a level crosses all levels below it, so each level counts by the difference
// of its cost and the next level's. Where costs grow inwards, a level counts by the lowest cost outside it.
//
// Where subtrees have slots for all partners of most ranks, this bound is low, and that of Spreading replaces it.
//
// Exact where the pattern's blocks nest as the subtrees do and all subtrees have the same number of slots. O(pairs +
// ranks x levels) on average, and limited work on each level for Spreading. Sums are doubles: exact for whole numbers
// up to 2^53, else true up to rounding.
// Throws Error(kMismatch) when the ranks do not fit.
double lower_bound(const topo::Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints);

// The part of the bound that looks at single ranks, for callers that hold no lists of pairs.
class LeavingBound {
 public:
  LeavingBound(const topo::Tree& tree, const Constraints& constraints);

  // Adds one rank by the weights of its pairs, which are reordered.
  void add(std::vector<double>& weights);
  [[nodiscard]] double cost() const;

  // The subtrees of one level, and the cost of a unit of weight between two of them beyond that on the next level.
  struct Level {
    std::int64_t capacity = 0;  // slots of the largest of them
    double cost = 0;
    double crossing = 0;  // a lower bound of the weight between them
  };
  std::vector<Level>& levels() { return levels_; }  // outermost first

 private:
  std::vector<Level> levels_;
};

}  // namespace ranktree::core::place
