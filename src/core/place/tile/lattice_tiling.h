// A recognised grid cut into equal boxes on every level of a machine whose subtrees are all alike, or by planes.
#pragma once

#include <optional>
#include <vector>

#include "core/place/graph/graph.h"
#include "core/place/order/lattice.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

struct LatticeTiling {
  std::vector<SlotTree::Slot> slot_of;  // by vertex
  // All links of the grid have about the same weight, and no part of as many vertices has a border that is clearly
  // shorter than the boxes' (B. Bollobas, I. Leader, Edge-isoperimetric inequalities in the grid, Combinatorica 11,
  // 1991): not worth looking for anything better.
  bool settled = false;
};

// The cheapest tiling (core/place/tiling.h), arcs that are no links of the grid counted, too; nothing where there are
// slots to spare, subtrees differ, or no tiling is even. O(arcs) and the search.
std::optional<LatticeTiling> tile_lattice(const SlotTree& tree, const Graph& graph, const Lattice& lattice);

struct LatticePlanes {
  std::vector<SlotTree::Slot> packed;  // by vertex, in as few subtrees as hold all
  std::vector<SlotTree::Slot> loose;   // in all subtrees alike; empty where no slot is spare
  bool uniform = false;                // all links of the grid have about the same weight
};

// Halves the vertices with the subtrees, from the root down, by the plane that the least weight crosses (recursive
// coordinate bisection: M. J. Berger, S. H. Bokhari, A partitioning strategy for nonuniform problems on
// multiprocessors, IEEE Transactions on Computers 36, 1987); between layers of the grid where the capacities allow
// that. Any tree, any number of spare slots. O(arcs + vertices x log groups).
LatticePlanes divide_lattice(const SlotTree& tree, const Graph& graph, const Lattice& lattice);

}  // namespace ranktree::core::place::engine
