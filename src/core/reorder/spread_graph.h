// A graph whose vertices are spread over processes, and how it is coarsened where it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/reorder/network.h"

namespace ranktree::core::reorder {

struct SpreadEdge {
  int peer = 0;
  int peer_weight = 1;
  double weight = 0;
};

struct SpreadVertex {
  int id = 0;
  int part = 0;                   // edges lead to vertices of the same part only
  int weight = 1;                 // so many vertices of the finest graph
  std::vector<SpreadEdge> edges;  // peers ascending
};

// Those of one shard, ids ascending.
using SpreadGraph = std::vector<SpreadVertex>;

// One round of coarsening of the vertices held here.
struct SpreadLevel {
  SpreadGraph graph;
  std::vector<int> mate;     // id of the vertex it is merged with, its own id where it stays alone
  std::vector<int> kept_as;  // of the two ids the one that the merged vertex has
};

// Collective. Every vertex sends value(index) to all its neighbours. The values that a vertex receives are in the order
// of its edges, those of all vertices one after another.
template <typename Content, typename Value>
std::vector<Content> exchange_with_neighbours(Network& network, const SpreadGraph& graph, Value value);

// Collective. Vertices propose to the free neighbour most strongly tied to them in relation to the weights, ties by a
// hash of the pair; where two propose to each other they are matched (B. Fagginger Auer, R. Bisseling: Graph Coarsening
// and Clustering on the GPU, 2012; ties by hash keep chains of proposals short). `limit` by part: the weight a merged
// vertex may have, 0 where nothing shall be merged.
std::vector<int> match(Network& network, const SpreadGraph& graph, std::span<const std::int64_t> limit,
                       std::uint64_t seed);

// Collective. Merges the matched vertices: the edges of one move to the other. Fills level.kept_as.
SpreadGraph contract(Network& network, SpreadLevel& level);

// ---

template <typename Content, typename Value>
std::vector<Content> exchange_with_neighbours(Network& network, const SpreadGraph& graph, Value value) {
  std::vector<Letter<Content>> letters;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (const SpreadEdge& edge : graph[i].edges) letters.push_back({edge.peer, graph[i].id, value(i)});
  }
  letters = deliver(network, letters);
  std::vector<Content> answers(letters.size());
  for (std::size_t i = 0; i < letters.size(); ++i) answers[i] = letters[i].content;
  return answers;
}

}  // namespace ranktree::core::reorder
