// Ranks put in order, and what they exchange as a graph in that order.
#pragma once

#include <optional>
#include <vector>

#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/graph/graph.h"
#include "core/place/order/lattice.h"

namespace ranktree::core::place::engine {

// Breadth first, so that ranks that communicate are near in memory, from a rank whose colour is rare, partners by
// colour. Colours are refined (B. Weisfeiler, A. Leman, The reduction of a graph to canonical form, 1968) and
// distinguished by the distance from up to three ranks. Renumbered ranks have the same order, except for those of the
// same colour. Above 131,072 ranks colours are refined once only, without distances: ranks with the same weights to
// their partners then keep the order of their numbers. O(arcs + ranks log ranks).
std::vector<pattern::Rank> structural_order(const pattern::Affinity& affinity, Workers& workers);

// Vertex i of the graph is rank order[i].
struct Ordered {
  std::vector<pattern::Rank> order;
  Graph graph;
  std::optional<Lattice> lattice;
};

// Ranks that communicate are near each other, in an order that follows from the pattern: row by row where it is a grid.
// Without arcs where no ranks communicate. Throws Error(kInput) where a weight is negative or not finite, or a
// neighbour is no rank.
Ordered put_in_order(const pattern::Affinity& affinity, Workers& workers);

// The largest weight. Throws as put_in_order().
double largest_weight(const pattern::Affinity& affinity, Workers& workers);

// Weights are scaled by a power of two, so that sums of the largest doubles stay finite; nothing else changes. Pairs of
// no weight and ranks' own entries are left out. Neighbours ascend. O(arcs).
Graph graph_of(const pattern::Affinity& affinity, const std::vector<pattern::Rank>& order, double largest);

}  // namespace ranktree::core::place::engine
