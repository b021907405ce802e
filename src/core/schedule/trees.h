// Trees over members 0 .. size-1 with root 0: one node at a time.
#pragma once

#include <vector>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

struct Node {
  Rank parent = -1;            // -1 for the root
  std::vector<Rank> children;  // ascending
};

inline constexpr Rank kKNomialRadix = 4;

// kFlat, kChain (and kPipeline), kBinary, kBinomial, kKNomial or kInOrderBinary. In all but kBinary a subtree is a run
// of members that begins with its root, so combining a node with its children one after the other keeps their order.
// O(children + log size).
Node node_of(Algorithm tree, Rank member, Rank size);

// The number of members in the subtree of a member in a binomial tree.
Rank binomial_span(Rank member, Rank size);

// True for the algorithms that node_of() accepts.
bool is_tree(Algorithm algorithm);

}  // namespace ranktree::core::schedule
