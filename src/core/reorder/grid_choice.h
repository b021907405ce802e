// The grid of processes itself, chosen for a machine: how many processes each dimension has, and where they go.
// After C. Niethammer, R. Rabenseifner, An MPI interface for application and hardware aware Cartesian topology
// optimization, EuroMPI 2019, and MPI Forum issue 120, whose levels are equal ones: here nodes may differ.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/reorder/grid.h"
#include "core/reorder/slots.h"

namespace ranktree::core::reorder {

// A domain that is cut into equal boxes, one a process, and what the processes exchange.
struct GridTraffic {
  std::vector<int> dims;               // 0: to be chosen
  std::vector<std::uint8_t> periodic;  // as many
  // By dimension: what is exchanged through a plane across the whole domain, both directions, 0 or more; as many, or
  // empty: 1 each. A grid of d processes in the dimension has d - 1 such planes, d where it is periodic. So a process
  // exchanges in proportion to weight x d, as in the proposal.
  std::vector<double> plane_weights;
};

// More grids are not compared.
inline constexpr std::int64_t kMostGrids = 100'000;

// How many grids have so many vertices and the dimensions that are given; at most kMostGrids + 1. O(dimensions x
// sqrt(vertices)).
std::int64_t grids_of(std::int64_t vertices, const GridTraffic& traffic);

// All of them with the weights of their links times the vertices, so that whole numbers remain whole; those with the
// least traffic first; then the one with the least sum of dimensions, then the lexicographically largest one. Throws
// Error(kInput) when there is none, the lengths differ or a weight is negative or not finite, Error(kUnsupported) when
// there are more than kMostGrids.
std::vector<Grid> grids_by_traffic(std::int64_t vertices, const GridTraffic& traffic);

struct ChosenGrid {
  Grid grid;  // with the weights of its links
  GridPlacement placed;
};

// The grid whose placement (place_grid()) costs least. On a symmetric tree, the candidates are those whose tilings cost
// least; else those with the least traffic. The one with the least traffic always is a candidate. Up to kAllVertices
// vertices, every grid is placed. Ties go to the first in the order of grids_by_traffic(). Throws as that.
inline constexpr std::int64_t kAllVertices = 24;
ChosenGrid choose_grid(const Slots& slots, const GridTraffic& traffic, const GridOptions& options);

}  // namespace ranktree::core::reorder
