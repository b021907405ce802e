// Whole subtrees of ranks of a dense pattern change places between the children of one group.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/dense_search.h"
#include "core/place/engine/dense_weights.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

// Those of one level below the group's children that have the same form, are full and hold nobody who stays. What is
// inside them stays as it is.
template <class Number>
class DenseSubtrees {
 public:
  DenseSubtrees(const DenseSearch& search, const DenseWeights<Number>& weights, Random& random,
                std::vector<SeatTree::Seat>& seat_of)
      : search_(search), weights_(weights), random_(random), seat_of_(seat_of) {}

  // On each level, the highest first, with what the subtrees exchange with each other. O(members^2) a level.
  void exchange(int level, SeatTree::Group group, const std::vector<pattern::Rank>& members);

 private:
  // The groups of a level that are below another group, and who is where.
  struct Subtrees {
    int depth;
    SeatTree::Group first;
    std::vector<std::vector<pattern::Rank>> inside;
    std::vector<pattern::Rank> subtree_of;  // by member
  };
  [[nodiscard]] const SeatTree& tree() const { return search_.tree; }
  [[nodiscard]] int groups_below(int level, SeatTree::Group group, int depth) const;
  [[nodiscard]] int annealed_depth(int level, SeatTree::Group group) const;
  [[nodiscard]] Subtrees subtrees_of(int level, SeatTree::Group group, int depth,
                                     const std::vector<pattern::Rank>& members) const;
  [[nodiscard]] std::vector<std::uint8_t> fixed(const Subtrees& subtrees) const;
  [[nodiscard]] std::vector<double> weights_between(const Subtrees& subtrees,
                                                    const std::vector<pattern::Rank>& members) const;
  void exchange_on(int level, SeatTree::Group group, const Subtrees& subtrees,
                   const std::vector<pattern::Rank>& members);

  const DenseSearch& search_;
  const DenseWeights<Number>& weights_;
  Random& random_;
  std::vector<SeatTree::Seat>& seat_of_;
};

extern template class DenseSubtrees<double>;
extern template class DenseSubtrees<float>;

}  // namespace ranktree::core::place::engine
