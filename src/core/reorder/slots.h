// The tree of the ranks that are really there: what rank reordering places a graph on (reorder-2011 §3.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/place/placement.h"
#include "core/split/chain.h"
#include "core/topo/kind_builder.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {

// One leaf for each rank, its slot, below the last object of its chain; objects in the order of the smallest rank they
// hold. Levels are the kinds of the chains in their order of nesting, switches by depth; the cost of a level is in
// hops.
struct Slots {
  topo::Tree tree;
  place::Placement home;                   // home.leaf_of[rank]: where the rank is; a bijection
  std::vector<std::int32_t> rank_at_slot;  // its inverse
};

// Chains by rank, at least one. Ranks bound alike are siblings; a rank bound more loosely than others hangs higher up,
// below levels that it skips. O(sum of lengths x log). Throws Error(kInput) when there are none, Error(kUnsupported)
// when a kind of object holds several of another in one part of the tree, and the other several of it in a second.
Slots slots_of(std::span<const split::Chain> chains);

// The levels that a chain goes through, in its order. Several of one kind (switches, groups) differ by number.
std::vector<topo::LevelKey> levels_of(const split::Chain& chain);

// The levels of Slots::tree by the same names, without the root (level 0) and the leaves (the last one).
std::vector<topo::LevelKey> levels_of(const topo::Tree& tree);

}  // namespace ranktree::core::reorder
