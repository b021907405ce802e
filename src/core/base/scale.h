// Weights whose sums stay finite.
#pragma once

#include <algorithm>
#include <cmath>

namespace ranktree::core {

// A power of two that brings the largest weight to 2^52 .. 2^53: times this, sums of the largest doubles stay finite,
// and nothing else changes, for the mantissas stay as they are. 1 where there is no weight above zero. `largest` is
// finite.
inline double scale_for_sums(double largest) {
  return largest > 0 ? std::ldexp(1.0, std::clamp(52 - std::ilogb(largest), -1000, 1000)) : 1.0;
}

}  // namespace ranktree::core
