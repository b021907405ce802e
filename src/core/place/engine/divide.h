// Dividing ranks among a machine's subtrees by a guide, for those who have no graph of all that they exchange.
#pragma once

#include <cstdint>
#include <vector>

#include "core/place/engine.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

// Of whole bisections.
enum class Repeats : std::uint8_t { kWhilePaying, kNone };

struct DivisionKind {
  bool loose = false;  // spread over more subtrees than needed where that is cheaper
  Repeats repeats = Repeats::kWhilePaying;
};

// The seat of each vertex of the guide, a rank each.
std::vector<SeatTree::Seat> divide(const SeatTree& tree, const Graph& guide, const EngineOptions& options,
                                   DivisionKind kind, std::uint64_t seed);

}  // namespace ranktree::core::place::engine
