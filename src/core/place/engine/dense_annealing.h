// Members of a group change places between its children even where that loses, ever less so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/dense_exchange.h"
#include "core/place/engine/dense_ties.h"

namespace ranktree::core::place::engine {

struct AnnealingLimits {
  int rounds;     // exchanges that are thought of, a member; fewer of very many members; 0: none
  double warmth;  // at first, in what exchanges cost on the mean
};

// S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi. Optimization by Simulated Annealing. Science 220, 1983. A member goes to
// the child of one it exchanges much with, and whoever loses least there comes instead.
template <class Number>
class DenseAnnealing {
 public:
  DenseAnnealing(DenseTies<Number>& ties, std::span<const std::uint8_t> fixed, const Exchanged& exchanged)
      : ties_(ties), fixed_(fixed), exchanged_(exchanged) {}

  // The best state seen stays. Nothing is tried where every exchange would lose about as much as the mean: there the
  // division is what it should be.
  void run(const AnnealingLimits& limits, const std::function<bool()>& keep_going, Random& random);

 private:
  struct Step {
    std::int32_t one = -1;
    std::int32_t other = -1;
    double gain = 0;
  };
  [[nodiscard]] bool stays(std::int32_t member) const {
    return !fixed_.empty() && fixed_[static_cast<std::size_t>(ties_.rank(member))] != 0;
  }
  void find_partners();
  Step propose(Random& random) const;
  [[nodiscard]] double mean_loss(Random& random) const;
  void apply(const Step& step);

  DenseTies<Number>& ties_;
  std::span<const std::uint8_t> fixed_;  // by rank; empty: none
  const Exchanged& exchanged_;
  std::size_t partners_ = 0;  // of each member, those it exchanges most with
  std::vector<std::int32_t> partner_;
};

extern template class DenseAnnealing<double>;
extern template class DenseAnnealing<float>;

}  // namespace ranktree::core::place::engine
