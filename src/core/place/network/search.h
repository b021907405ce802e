// Local search on the true distances of a network that is no tree.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"

namespace ranktree::core::place::network {

struct SearchEffort {
  int partners;    // of a vertex, the strongest first, near which a better place is searched
  int near;        // nodes around each of them that are tried
  int passes;      // visits of vertices at most, per vertex on average
  double cooling;  // steps of annealing per vertex, 0: none
  double most;     // arcs that annealing visits in all
};

// The input of every search. Vertex i is rank i.
struct SearchInput {
  const Distances& distances;
  const engine::Graph& graph;
  std::vector<std::uint8_t> fixed;  // by rank: pinned; empty: no rank is
  SearchEffort effort;
  std::function<bool()> go_on;  // false: stop
};

double cost_of(const SearchInput& input, const std::vector<Slot>& slot_of);

// Exchanges the slots of two ranks, or moves one to a free slot, while that makes the placement cheaper. A vertex is
// visited again when a partner has moved. O(partners x near x slots of a node x degree) for each visit.
void swap_ranks(const SearchInput& input, std::vector<Slot>& slot_of);

// The same for the whole contents of two nodes of the same form.
void swap_nodes(const SearchInput& input, std::vector<Slot>& slot_of);

// Simulated annealing of the contents of nodes: exchanges that raise the cost are accepted, too, ever less often. The
// cheapest placement of all, which may be the first, is kept.
void anneal_nodes(const SearchInput& input, std::uint64_t seed, std::vector<Slot>& slot_of);

}  // namespace ranktree::core::place::network
