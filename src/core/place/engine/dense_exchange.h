// Ranks of a dense pattern change places between the children of one group while that keeps more within them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/dense_ties.h"

namespace ranktree::core::place::engine {

// Called for each exchange: member `one` goes where member `other` is and the other way round, or, with -1, to a free
// seat of a child.
using Exchanged = std::function<void(std::int32_t one, std::int32_t other, std::int32_t child)>;

template <class Number>
class DenseExchange {
 public:
  DenseExchange(DenseTies<Number>& ties, std::span<const std::uint8_t> fixed, const Exchanged& exchanged)
      : ties_(ties), fixed_(fixed), exchanged_(exchanged) {}

  // Once over all members, in random order; each looks into the `homes` children it is tied to most. Returns what is
  // kept within children more than before.
  double pass(int homes, Random& random);

 private:
  struct Move {
    double gain = 0;
    std::int32_t child = -1;
    std::int32_t other = -1;  // -1: to a free seat
  };
  void collect_homes(std::int32_t member, int most);
  void look_into(std::int32_t member, std::int32_t child, Move& best);
  void apply(std::int32_t member, const Move& move);

  DenseTies<Number>& ties_;
  std::span<const std::uint8_t> fixed_;  // by rank; empty: none
  const Exchanged& exchanged_;
  std::vector<std::int32_t> homes_;
  std::vector<double> row_;
};

extern template class DenseExchange<double>;
extern template class DenseExchange<float>;

}  // namespace ranktree::core::place::engine
