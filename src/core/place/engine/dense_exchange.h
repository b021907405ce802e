// Ranks of a dense pattern change places between the children of one group while that keeps more within them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/dense_weights.h"

namespace ranktree::core::place::engine {

// Where the members of a group are: child_of[i] is the child that holds members[i], room[child] what it takes.
struct Division {
  std::span<const pattern::Rank> members;
  std::vector<std::int32_t> child_of;
  std::vector<std::int32_t> room;
};

// Called for each exchange: member `one` goes where member `other` is and the other way round, or, with -1, to a free
// seat of a child.
using Exchanged = std::function<void(std::int32_t one, std::int32_t other, std::int32_t child)>;

// Keeps the sum that ties each member to each child: O(members x children) memory, O(members^2) to fill it and
// O(members) an exchange.
template <class Number>
class DenseExchange {
 public:
  DenseExchange(const DenseWeights<Number>& weights, Division& division, std::span<const std::uint8_t> fixed,
                const Exchanged& exchanged);

  // Once over all members, in random order; each looks into the `homes` children it is tied to most. Returns what is
  // kept within children more than before.
  double pass(int homes, Random& random);

 private:
  struct Move {
    double gain = 0;
    std::int32_t child = -1;
    std::int32_t other = -1;  // -1: to a free seat
  };
  [[nodiscard]] double& tie(std::int32_t child, std::int32_t member) {
    return ties_[static_cast<std::size_t>(child) * members_ + static_cast<std::size_t>(member)];
  }
  void fill();
  void collect_homes(std::int32_t member, int most);
  void look_into(std::int32_t member, std::int32_t child, Move& best);
  void apply(std::int32_t member, const Move& move);
  void shift(std::int32_t member, std::int32_t from, std::int32_t to);

  const DenseWeights<Number>& weights_;
  Division& division_;
  std::span<const std::uint8_t> fixed_;  // by rank; empty: none
  const Exchanged& exchanged_;
  std::size_t members_;
  std::vector<double> ties_;                     // child x member
  std::vector<std::vector<std::int32_t>> held_;  // by child
  std::vector<std::int32_t> place_;              // in held_, by member
  std::vector<std::int32_t> homes_;
  std::vector<double> row_;
};

extern template class DenseExchange<double>;
extern template class DenseExchange<float>;

}  // namespace ranktree::core::place::engine
