// Graphs from rows of arcs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// Vertex v, of size 1, has the arcs of row v.
inline Guide guide_of(const std::vector<std::vector<GuideArc>>& rows) {
  Guide graph;
  graph.size.assign(rows.size(), 1);
  for (const auto& row : rows) {
    graph.arcs.insert(graph.arcs.end(), row.begin(), row.end());
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

}  // namespace ranktree::core::place::engine
