// Placing a dense pattern: divided by its strongest pairs, improved by all of them, never an adjacency list.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/engine/dense_search.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

// How hard it tries.
struct DenseEffort {
  int strongest;  // pairs of each rank that guide the division
  int divisions;  // of patterns of few ranks, the best kept; larger ones afford fewer
  int careful;    // the first of them, as the preset divides; what follows is divided as by default
  DenseSearch::Limits search;
};

struct DenseRequest {
  const SeatTree& tree;
  DenseEffort effort;
  std::uint64_t seed;
  std::span<const std::uint8_t> fixed;  // ranks that stay where they start; empty: none
  std::function<bool()> keep_going;     // if there is one
  struct Manner {
    bool careful;
    bool loose;  // spread over more subtrees than needed where that is cheaper
  };
  // Seats for the vertices of a guide, a rank each; whoever is pinned may be anywhere.
  std::function<std::vector<SeatTree::Seat>(const Graph& guide, Manner manner, std::uint64_t seed)> divide;
  // Seats for what a sparse pattern says, from the same start.
  std::function<std::vector<SeatTree::Seat>(const pattern::Affinity& lists)> place_lists;
};

// Makes a placement cheaper, never dearer. Where no seat is spare, what all pairs exchange alike costs the same
// wherever ranks are: if only few pairs exchange more, these are placed as lists. Throws Error(kInput), naming the
// entry, when one is negative or not finite.
void place_dense(const DenseRequest& request, const pattern::Matrix& matrix, std::vector<SeatTree::Seat>& seat_of);

}  // namespace ranktree::core::place::engine
