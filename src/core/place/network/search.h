// Local search on the true distances of a network that is no tree.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"

namespace ranktree::core::place::network {

struct SearchEffort {
  int partners;       // of a vertex, the strongest first, near which it may want to be
  int near;           // nodes around each of them that are looked at
  int passes;         // over all vertices; most are looked at once
  double cooling;     // steps of annealing a vertex, 0: none
  std::int64_t most;  // steps of annealing in all
};

// What every search takes. Vertex i is rank i.
struct SearchInput {
  const Distances& distances;
  const engine::Graph& graph;
  std::vector<std::uint8_t> fixed;  // by rank: pinned; empty: nobody is
  SearchEffort effort;
  std::function<bool()> go_on;  // false: stop
};

double cost_of(const SearchInput& input, const std::vector<Slot>& slot_of);

// Two ranks change slots, or one takes a free one, while that makes the placement cheaper; never dearer. A vertex is
// looked at again when a partner has moved. O(partners x near x slots of a node x degree) a look.
void swap_ranks(const SearchInput& input, std::vector<Slot>& slot_of);

// The same for all that two nodes of the same form hold.
void swap_nodes(const SearchInput& input, std::vector<Slot>& slot_of);

// Simulated annealing of what nodes hold: dearer exchanges are taken too, ever less often, and the cheapest placement
// seen is kept, which may be the first.
void anneal_nodes(const SearchInput& input, std::uint64_t seed, std::vector<Slot>& slot_of);

}  // namespace ranktree::core::place::network
