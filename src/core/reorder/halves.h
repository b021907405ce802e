// Two halves of a weighted graph with as little as possible between them: what a leader does with a coarse graph, and
// with the vertices along a cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/reorder/network.h"
#include "core/reorder/spread_graph.h"

namespace ranktree::core::reorder {

// CSR, both directions stored, no self loops.
struct WeightedGraph {
  std::vector<int> weight;  // of the vertices, at least 1
  std::vector<std::size_t> begin{0};
  std::vector<int> peers;
  std::vector<double> weights;
  std::vector<double> pull;  // weight of edges to the right minus edges to the left that lead out of the graph

  [[nodiscard]] int size() const { return static_cast<int>(weight.size()); }
};

// 0: left, 1: right; by vertex.
using Sides = std::vector<std::uint8_t>;

// The placement engine's refinement (core/place/divide/bisection.h), which follows pulls. `excess` is by how much the
// left outweighs its target, vertices outside the graph included; returns what is left of it. States within `tolerance`
// of the target beat others; then the cheaper wins. Deterministic.
std::int64_t refine(const WeightedGraph& graph, Sides& sides, std::int64_t excess, std::int64_t tolerance);

// The engine's bisection (core/place/divide/bisection.h), the best of `tries`, for graphs without pulls. The left
// weighs `target` as nearly as the vertices allow.
Sides find_halves(const WeightedGraph& graph, std::int64_t target, int tries, std::uint64_t seed);

// A vertex reports itself, then its edges.
struct Report {
  int peer = -1;   // -1: about the vertex itself
  int number = 0;  // of the vertex: twice its weight plus its side; of an edge: the side of the peer
  double weight = 0;
};

// `sides_of_peers` in the order of the edges.
void report(const SpreadVertex& vertex, std::uint8_t side, std::span<const std::uint8_t> sides_of_peers, int leader,
            std::vector<Letter<Report>>& letters);

// The vertices that have reported to one leader; their neighbours that have not are pulls.
struct Band {
  std::vector<int> ids;  // ascending
  WeightedGraph graph;
  Sides sides;
};
Band assemble(std::span<const Letter<Report>> letters);

// The letters to one receiver each, as take_run().
template <typename Content, typename Visit>
void for_each_receiver(const std::vector<Letter<Content>>& letters, Visit visit) {
  for (std::span<const Letter<Content>> rest(letters); !rest.empty();) {
    const int to = rest.front().to;
    visit(to, take_run(rest, to));
  }
}

}  // namespace ranktree::core::reorder
