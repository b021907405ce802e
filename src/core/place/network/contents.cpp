#include "core/place/network/contents.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"
#include "core/place/network/search.h"

namespace ranktree::core::place::network {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

Contents::Contents(const SearchInput& input, const std::vector<Slot>& slot_of) : input_(input), slot_of_(slot_of) {
  std::vector<int> vertex_at(at(input.distances.nodes()), -1);
  for (const Slot slot : slot_of) {
    int& vertex = vertex_at[at(input.distances.node(slot))];
    if (vertex < 0) {
      vertex = static_cast<int>(node_of_.size());
      node_of_.push_back(input.distances.node(slot));
    }
    part_of_.push_back(vertex);
  }
  first_ = node_of_;
  Workers alone(1);
  graph_ = engine::contract(input.graph, part_of_, static_cast<engine::Vertex>(node_of_.size()), alone);
}

std::vector<std::uint8_t> Contents::fixed() const {
  if (input_.fixed.empty()) return {};
  std::vector<std::uint8_t> result(node_of_.size(), 0);
  for (std::size_t rank = 0; rank < part_of_.size(); ++rank) {
    if (input_.fixed[rank] != 0) result[at(part_of_[rank])] = 1;
  }
  return result;
}

std::vector<Slot> Contents::slots() const {
  std::vector<Slot> result(slot_of_.size());
  for (std::size_t rank = 0; rank < result.size(); ++rank) {
    const auto part = at(part_of_[rank]);
    result[rank] =
        slot_of_[rank] - input_.distances.first_slot(first_[part]) + input_.distances.first_slot(node_of_[part]);
  }
  return result;
}

}  // namespace ranktree::core::place::network
