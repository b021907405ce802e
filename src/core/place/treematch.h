// TreeMatch exactly as treematch-2013 §4 describes it. The faithful reference for every later engine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/place/grouping.h"
#include "core/place/placement.h"

namespace ranktree::core::place {

struct TreeMatchOptions {
  Constraints constraints;
  double group_threshold = 30000;         // T_h (§4.2.2): FastGroupProcesses is used from this many possible groups on
  std::int64_t degree_threshold = 20000;  // §4.1: "largest weighted degrees first" is skipped above this many groups
  int buckets = 8;                        // §4.2.2
  bool divide_arities = true;             // §4.2.1
  std::uint64_t seed = 1;                 // FastGroupProcesses draws a sample
};

// One iteration of Algorithm 1's loop, from the leaves up: the matrix it worked on (extended if need be) and the groups
// made.
struct TreeMatchStep {
  int arity = 0;
  Affinity matrix;
  Grouping groups;
};

// Algorithm 1 up to line 7 on a symmetric tree with the given arities, root first. The last step has one group.
std::vector<TreeMatchStep> treematch_steps(std::span<const int> arities, const pattern::Affinity& affinity,
                                           const TreeMatchOptions& options);

// MapGroups: the slot of every process, slots numbered from the left; the first `processes` items of the first step are
// processes, the others artificial.
std::vector<std::int64_t> map_groups(std::span<const TreeMatchStep> steps, Item processes);

// One part for each capacity, in that order; together they hold all processes, which must not exceed the capacities'
// sum. Parts are filled one after another, the largest capacity first (ties: the first), each grown from the process
// with the most communication left by always adding the process most strongly tied to the part (ties: more
// communication, then the smaller rank). O(pairs log pairs).
std::vector<Group> grow_parts(const Affinity& matrix, const Group& processes, std::span<const std::int64_t> capacities);

// The matrix of `processes` (ascending) among themselves, renumbered 0, 1, ...
Affinity restrict_matrix(const Affinity& matrix, const Group& processes);

// The whole of it. Where usable siblings are unequal the paper's premise fails (§4.1): processes are then divided from
// the root down among subtrees by greedy growth, each subtree taking as many as it holds, the largest first; within
// symmetric subtrees TreeMatch goes on (docs/explanation/treematch.md).
// Throws Error(kMismatch) when the ranks do not fit.
Placement treematch(const topo::Tree& tree, const pattern::Affinity& affinity, const TreeMatchOptions& options);

}  // namespace ranktree::core::place
