// Between which ranks links are measured. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ranktree::mpi::collect {

// Two ranks on different nodes, and two on one, the first there are; {0, 0} where there is no such pair. `node_of` by
// rank, 0 .. nodes-1. O(ranks), and no further than needed.
inline std::array<std::pair<int, int>, 2> pairs_to_measure(std::span<const std::int32_t> node_of, int nodes) {
  std::array<std::pair<int, int>, 2> pairs{};
  std::vector<int> first(static_cast<std::size_t>(nodes), -1);  // rank of each node
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    if (pairs[0].second != 0 && pairs[1].second != 0) break;
    const auto self = static_cast<int>(rank);
    int& known = first[static_cast<std::size_t>(node_of[rank])];
    if (known >= 0 && pairs[1].second == 0) pairs[1] = {known, self};
    if (node_of[rank] != node_of[0] && pairs[0].second == 0) pairs[0] = {0, self};
    if (known < 0) known = self;
  }
  return pairs;
}

}  // namespace ranktree::mpi::collect
