// Two halves of a weighted graph with as little as possible between them: what a leader does with a coarse graph, and
// with the vertices along a cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ranktree::core::reorder {

// CSR, both directions stored, no self loops.
struct WeightedGraph {
  std::vector<int> weight;  // of the vertices, at least 1
  std::vector<std::size_t> begin{0};
  std::vector<int> peers;
  std::vector<double> weights;  // their sums are finite, but for find_halves()
  std::vector<double> pull;     // weight of edges to the right minus edges to the left that lead out of the graph

  [[nodiscard]] int size() const { return static_cast<int>(weight.size()); }
};

// 0: left, 1: right; by vertex.
using Sides = std::vector<std::uint8_t>;

// Moves vertices one at a time, each once a pass, and keeps the best state met (C. Fiduccia, R. Mattheyses: A
// Linear-Time Heuristic for Improving Network Partitions, DAC 1982). `excess` is by how much the left outweighs its
// target, vertices outside the graph included; returns what is left of it. States within `tolerance` of the target beat
// others; then the cheaper wins. Deterministic. O(passes x edges log edges).
std::int64_t refine(const WeightedGraph& graph, Sides& sides, std::int64_t excess, std::int64_t tolerance);

// Multilevel: coarsened by heavy edges, grown from a random vertex, refined on the way back (B. Hendrickson, R. Leland:
// A Multilevel Algorithm for Partitioning Graphs, SC 1995); the best of `tries`. The left weighs `target` as nearly as
// refine() comes to it; pulls are honoured.
Sides find_halves(const WeightedGraph& graph, std::int64_t target, int tries, std::uint64_t seed);

// Weight of the edges between the halves.
double cut_between(const WeightedGraph& graph, const Sides& sides);

}  // namespace ranktree::core::reorder
