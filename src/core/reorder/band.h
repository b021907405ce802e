// What vertices tell the leader of their part about themselves, and the graph it makes of that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/reorder/halves.h"
#include "core/reorder/network.h"
#include "core/reorder/spread_graph.h"

namespace ranktree::core::reorder {

// A vertex says who it is, then which edges it has.
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
