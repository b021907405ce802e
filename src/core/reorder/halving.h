// One level of the division of a spread graph among the parts of a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reorder/network.h"
#include "core/reorder/spread_graph.h"
#include "core/reorder/survey.h"

namespace ranktree::core::reorder {

struct HalvingOptions {
  int coarse_vertices = 4096;  // at most so many vertices of a part come together at its leader
  int attempts = 3;            // 1 to 7: coarsened and divided so often, with other random numbers; the best is taken
  int tries = 4;               // so often the leader divides each coarse graph
  std::uint64_t seed = 1;
};

// Collective. Every part of that depth that is to be divided is halved at the same time as the others: its graph is
// coarsened where it lies, its leader divides the coarse graph, and on the way back refines the vertices near the cut
// (C. Chevalier, F. Pellegrini: PT-Scotch, 2008: band graphs), so that each half has exactly as many vertices as it has
// leaves. Where all vertices of a part are at home in it, and staying at home cuts no more, they stay. Changes the part
// of the vertices and drops the edges between the halves.
void halve(Network& network, const Survey& survey, int depth, const HalvingOptions& options, SpreadGraph& vertices);

}  // namespace ranktree::core::reorder
