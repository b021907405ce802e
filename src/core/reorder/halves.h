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
  std::vector<double> weights;
  std::vector<double> pull;  // weight of edges to the right minus edges to the left that lead out of the graph

  [[nodiscard]] int size() const { return static_cast<int>(weight.size()); }
};

// 0: left, 1: right; by vertex.
using Sides = std::vector<std::uint8_t>;

// The placement engine's refinement (core/place/engine/refinement.h), which follows pulls. `excess` is by how much the
// left outweighs its target, vertices outside the graph included; returns what is left of it. States within `tolerance`
// of the target beat others; then the cheaper wins. Deterministic.
std::int64_t refine(const WeightedGraph& graph, Sides& sides, std::int64_t excess, std::int64_t tolerance);

// The engine's bisection (core/place/engine/bisection.h), the best of `tries`, for graphs without pulls. The left
// weighs `target` as nearly as the vertices allow.
Sides find_halves(const WeightedGraph& graph, std::int64_t target, int tries, std::uint64_t seed);

// Weight of the edges between the halves.
double cut_between(const WeightedGraph& graph, const Sides& sides);

}  // namespace ranktree::core::reorder
