// Recognises grids by the pairs of ranks that communicate, whatever the numbering.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

struct Lattice {
  std::vector<int> sizes;           // of the dimensions, the longest first
  std::vector<std::uint8_t> wraps;  // whether the last is a neighbour of the first
  std::vector<Vertex> vertex_at;    // row by row, the last dimension fastest

  [[nodiscard]] std::vector<int> coordinates(std::int64_t place) const;
};

// The grid whose links are all arcs, or all that are nearly as heavy as the heaviest: a Cartesian product of paths and
// cycles (one of four counts as two paths of two), all of whose vertices are there. Two links of a vertex are of one
// dimension unless they are sides of a square; what is opposite in a square is of one dimension (the factors of a
// product: J. Feigenbaum, J. Hershberger, A. Schaeffer, A polynomial time algorithm for finding the prime factors of
// Cartesian-product graphs, Discrete Applied Mathematics 12, 1985). O(vertices x degree^2) where squares are
// few, and O(arcs) where degrees cannot be a grid's or a vertex early on has three links of one dimension. Nothing when
// the workers, which are checked from time to time, are to stop.
std::optional<Lattice> find_lattice(const Graph& graph, Workers& workers);

}  // namespace ranktree::core::place::engine
