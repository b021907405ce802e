// Exchanges members between two children of a group at a time while that reduces the weight between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/dense/dense_ties.h"

namespace ranktree::core::place::engine {

// Called for each exchange: members `one` and `other` exchange their slots. Where `other` is -1, `one` goes to a free
// slot of a child.
using Exchanged = std::function<void(std::int32_t one, std::int32_t other, std::int32_t child)>;

struct PairLimits {
  int sweeps;    // over all pairs of children; those that have not changed since are left out
  int patience;  // a pair is given up after so many exchanges without a gain
};

// B. W. Kernighan, S. Lin. An Efficient Heuristic Procedure for Partitioning Graphs. Bell System Technical Journal
// 49(2), 1970: exchanges are made one after another even where the cost rises, each member at most once, and the best
// state is kept. A free slot of a child counts as a member that exchanges nothing.
template <class Number>
class DensePairs {
 public:
  DensePairs(DenseTies<Number>& ties, std::span<const std::uint8_t> fixed, const Exchanged& exchanged)
      : ties_(ties), fixed_(fixed), exchanged_(exchanged) {}

  // In random order. O(children^2 x members) a sweep where hardly anything changes.
  void run(const PairLimits& limits, Workers& workers, Random& random);

 private:
  struct Step {
    std::int32_t one;
    std::int32_t other;
  };
  struct Side {
    std::vector<std::int32_t> members;
    std::vector<double> gains;  // of a move to the other side
    std::vector<double> row;    // twice the weight between the chosen member and each
    double highest = 0;
  };
  struct Choice {
    std::size_t one;
    std::size_t other;
    double gain;  // -infinity: no member is left
  };
  void load(std::int32_t own, std::int32_t other, Side& side) const;
  void look_at(std::int32_t member, Side& side) const;
  void apply(const Step& step, std::int32_t a, std::int32_t b);
  Choice choose();
  void pretend(const Choice& choice);
  bool refine(std::int32_t a, std::int32_t b, int patience);

  DenseTies<Number>& ties_;
  std::span<const std::uint8_t> fixed_;  // by rank; empty: none
  const Exchanged& exchanged_;
  Side left_, right_;
  std::vector<Step> steps_;
};

extern template class DensePairs<double>;
extern template class DensePairs<float>;

}  // namespace ranktree::core::place::engine
