// The tree of the ranks that are really there: what rank reordering places a graph on (reorder-2011 §3.1).
#pragma once

#include <span>
#include <vector>

#include "core/place/placement.h"
#include "core/split/chain.h"
#include "core/topo/tree.h"

namespace ranktree::core::enforce {

// One leaf for each rank, below the last object of its chain; objects in the order of the smallest rank they hold.
// Levels are the kinds of the chains in their order of nesting, switches by depth; the cost of a level is in hops.
struct Positions {
  topo::Tree tree;
  place::Placement home;                   // home.leaf_of[rank]: where the rank is; a bijection
  std::vector<std::int32_t> rank_at_leaf;  // its inverse
};

// Chains by rank, at least one. Ranks bound alike are siblings; a rank bound more loosely than others hangs higher up,
// below levels that it skips. O(sum of lengths x log). Throws Error(kInput) when there are none, Error(kUnsupported)
// when a kind of object is above another in one chain and below it in a second.
Positions positions_of(std::span<const split::Chain> chains);

}  // namespace ranktree::core::enforce
