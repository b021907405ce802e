// Local search on the true cost of a dense pattern, from the root down, by sums over whole groups.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/place/engine/dense_annealing.h"
#include "core/place/engine/dense_pairs.h"
#include "core/place/engine/dense_weights.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

struct DenseSearch {
  struct Limits {
    int passes;  // over all ranks of a group that has room to spare
    int homes;   // children that a rank may go to, the strongest tied first
    PairLimits pairs;
    AnnealingLimits annealing;  // of subtrees below the root's children
  };
  const SeatTree& tree;
  Limits limits;
  const std::function<bool()>& keep_going;
  std::span<const std::uint8_t> fixed;  // ranks that stay; empty: none
};

// Ranks change places between the children of each group, the highest groups first. `order`: all ranks as they are
// visited, which decides between what is equal.
template <class Number>
void improve(const DenseSearch& search, const DenseWeights<Number>& weights, std::span<const pattern::Rank> order,
             std::uint64_t seed, std::vector<SeatTree::Seat>& seat_of);

// The cost of a placement, each pair once; `total` is what all pairs weigh. Only pairs within the groups below the
// root are looked at.
template <class Number>
double cost_of(const SeatTree& tree, const DenseWeights<Number>& weights, double total,
               const std::vector<SeatTree::Seat>& seat_of);

extern template void improve(const DenseSearch&, const DenseWeights<double>&, std::span<const pattern::Rank>,
                             std::uint64_t, std::vector<SeatTree::Seat>&);
extern template void improve(const DenseSearch&, const DenseWeights<float>&, std::span<const pattern::Rank>,
                             std::uint64_t, std::vector<SeatTree::Seat>&);
extern template double cost_of(const SeatTree&, const DenseWeights<double>&, double,
                               const std::vector<SeatTree::Seat>&);
extern template double cost_of(const SeatTree&, const DenseWeights<float>&, double, const std::vector<SeatTree::Seat>&);

}  // namespace ranktree::core::place::engine
