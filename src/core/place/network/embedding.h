// Ranks that talk put next to each other, all of them, where the network has room for their pattern as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/place/engine/graph.h"
#include "core/place/network/distances.h"

namespace ranktree::core::place::network {

// Neighbours without weights, CSR.
struct Links {
  std::vector<std::int64_t> offset{0};
  std::vector<int> to;

  [[nodiscard]] int vertices() const { return static_cast<int>(offset.size()) - 1; }
  [[nodiscard]] std::span<const int> of(int vertex) const {
    const auto begin = static_cast<std::size_t>(offset[static_cast<std::size_t>(vertex)]);
    return {to.data() + begin, static_cast<std::size_t>(offset[static_cast<std::size_t>(vertex) + 1]) - begin};
  }
};

// A vertex of `host` for each vertex of `guest`, all different, neighbours on neighbours; nothing when none was found
// within so many steps. Backtracking: each vertex goes where all its placed partners are neighbours, those with the
// most placed partners first. Both have ascending neighbours.
std::optional<std::vector<int>> embed(const Links& guest, const Links& host, std::int64_t steps, std::uint64_t seed,
                                      const std::function<bool()>& go_on);

// Placements in which all pairs that talk (or, of many partners, those that talk most) are in the same node or one step
// apart: on a torus whose routers all have as many seats, blocks of ranks a router, of every form; elsewhere one rank a
// node. Empty when there are none, or none was found.
std::vector<std::vector<Seat>> neighbourly_placements(const Distances& distances, const engine::Graph& graph,
                                                      std::uint64_t seed, const std::function<bool()>& go_on);

}  // namespace ranktree::core::place::network
