// Rank reordering in which no process holds the whole graph, as reorder-2011 §6 suggests: the tree's top levels are
// divided on a coarsened graph, then the first process of each subtree places its part.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/place/engine.h"
#include "core/reorder/network.h"
#include "core/split/chain.h"

namespace ranktree::core::reorder {

// What an id brings: as a vertex its edges, as a process its place.
struct Share {
  std::span<const int> peers;  // ascending, each once, without itself
  std::span<const double> weights;
  split::Chain chain;
};

struct DistributedOptions {
  place::EngineOptions engine;  // for the parts; constraints and start are not looked at
  int coarse_vertices = 4096;   // of a graph that one process works on; parts of so many leaves are placed at once
};

struct DistributedOrder {
  std::vector<int> vertex;       // by id held here: the vertex the process shall own
  std::optional<double> before;  // hops x weight, each pair once; equal everywhere; nothing until it is known
  std::optional<double> after;
};

// Collective. Permutes the vertices, or keeps the current order when nothing cheaper was found. The result does not
// depend on how ids are spread over shards. `order` starts as the current order, with its cost as soon as it is known,
// and is valid also when an exception is thrown. A shard holds the edges of its vertices and of those merged into them,
// and where it leads a part the coarse graph, the band around a cut, and at the end the part's edges; that of id 0 also
// all chains. Weights are finite, at least 0. Throws Error(kInput), not everywhere, when one end of an edge does not
// know of it.
void order_distributed(Network& network, const std::vector<Share>& shares, const DistributedOptions& options,
                       DistributedOrder& order);

}  // namespace ranktree::core::reorder
