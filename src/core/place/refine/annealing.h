// Simulated annealing: the loop, and how much worse a change may make things.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ranktree::core::place::engine {

// How much a change may raise the cost, in units of the temperature, by a random number: Metropolis' rule, with the
// logarithms of 4,096 even draws taken in advance.
class Thresholds {
 public:
  static constexpr std::uint64_t kCount = 4096;

  Thresholds() {
    for (std::size_t i = 0; i < kCount; ++i) {
      threshold_[i] = static_cast<float>(-std::log((static_cast<double>(i) + 0.5) / kCount));
    }
  }
  [[nodiscard]] double operator[](std::uint64_t draw) const { return threshold_[draw % kCount]; }

 private:
  std::array<float, kCount> threshold_{};
};

inline const Thresholds& thresholds() {
  static const Thresholds table;
  return table;
}

// D. S. Johnson, C. R. Aragon, L. A. McGeoch, C. Schevon. Optimization by Simulated Annealing: An Experimental
// Evaluation; Part I, Graph Partitioning. Operations Research 37(6), 1989. The state holds what is annealed:
//   open_phase(share)  sets the temperature, of the first phase with 0, of the last with 1; returns the phase's trials
//   try_move()         proposes a change and makes it unless the cost rises by more than its threshold
//   close_phase()      false: gives up
// False when the state gives up or `go_on`, called with the number of trials since its last call, returns false.
template <class State, class GoOn>
bool anneal(State& state, int phases, GoOn go_on) {
  constexpr std::int64_t kAtOnce = 4096;
  for (int phase = 0; phase < phases; ++phase) {
    std::int64_t trials = state.open_phase(static_cast<double>(phase) / std::max(phases - 1, 1));
    for (; trials > 0; trials -= kAtOnce) {
      const std::int64_t now = std::min(trials, kAtOnce);
      for (std::int64_t i = 0; i < now; ++i) state.try_move();
      if (!go_on(now)) return false;
    }
    if (!state.close_phase()) return false;
  }
  return true;
}

}  // namespace ranktree::core::place::engine
