// The contents of each node as one vertex of a graph, and the slots of ranks once these vertices have moved.
#pragma once

#include <cstdint>
#include <vector>

#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"
#include "core/place/network/search.h"

namespace ranktree::core::place::network {

class Contents {
 public:
  // Both must outlive this. O(arcs).
  Contents(const SearchInput& input, const std::vector<Slot>& slot_of);

  [[nodiscard]] const engine::Graph& graph() const { return graph_; }
  // The node of each vertex, which the search changes.
  std::vector<int>& node_of() { return node_of_; }
  // Vertices that hold a pinned rank; empty: none does.
  [[nodiscard]] std::vector<std::uint8_t> fixed() const;
  // The slots of the ranks after the contents have moved.
  [[nodiscard]] std::vector<Slot> slots() const;

 private:
  const SearchInput& input_;
  const std::vector<Slot>& slot_of_;
  engine::Graph graph_;
  std::vector<engine::Vertex> part_of_;
  std::vector<int> first_, node_of_;
};

}  // namespace ranktree::core::place::network
