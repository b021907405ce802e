// One rank gathers tree and graph, places and scatters (reorder-2011 §3).
#pragma once

#include <map>

#include "core/topo/level_order.h"
#include "mpi/reorder/modes.h"

namespace ranktree::mpi {

// What pairs that meet on a level pay, by the level's name; the root of the tree has none and is not in it.
using LevelCosts = std::map<core::topo::LevelKey, double>;

// As reorder_central(). With `costs` levels cost what it says, and what it does not name is an error; without, hops in
// the tree of the ranks of search.comm.
Reordering reorder_at_root(const Search& search, const OwnPart& own, const ReorderOptions& options,
                           const LevelCosts* costs);

}  // namespace ranktree::mpi
