// The graph that the engine divides: vertices stand for one rank, or for several that were merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ranktree::core::place::engine {

using Vertex = std::int32_t;

struct Arc {
  Vertex to;
  double weight;
};

// CSR; each edge is stored from both ends with the same weight; no self loops.
struct Graph {
  std::vector<std::int64_t> offset{0};
  std::vector<Arc> arcs;
  std::vector<std::int32_t> size;  // ranks that each vertex stands for

  [[nodiscard]] Vertex vertices() const { return static_cast<Vertex>(size.size()); }
  [[nodiscard]] std::span<const Arc> arcs_of(Vertex vertex) const {
    const auto begin = offset[static_cast<std::size_t>(vertex)];
    const auto end = offset[static_cast<std::size_t>(vertex) + 1];
    return {arcs.data() + begin, static_cast<std::size_t>(end - begin)};
  }
  [[nodiscard]] std::int64_t total_size() const;
};

// Vertices of the same part become one; arcs inside a part vanish, parallel ones add up. O(vertices + arcs).
Graph contract(const Graph& graph, std::span<const Vertex> part_of, Vertex parts);

// What matters most of a dense graph: what all pairs have at least is taken off where all pairs talk, and of the rest
// each vertex keeps its `strongest` arcs and those that another end keeps; equal weights by a hash of the two ends. The
// graph itself, as a copy, where it is no larger than that. O(arcs).
Graph strongest_arcs(const Graph& graph, std::size_t strongest);

// A piece of a graph and what its vertices are called elsewhere.
struct Piece {
  Graph graph;
  std::vector<Vertex> name;
};

// The pieces that `part_of` cuts a graph into, vertices in the order they had; arcs between pieces are dropped. The
// graph's vertices are called `name`. O(vertices + arcs + parts).
std::vector<Piece> pieces_of(const Graph& graph, std::span<const Vertex> name, std::span<const Vertex> part_of,
                             Vertex parts);

}  // namespace ranktree::core::place::engine
