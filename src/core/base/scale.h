// Weights whose sums stay finite.
#pragma once

#include <algorithm>
#include <cmath>

namespace ranktree::core {
// A power of two that brings the largest weight to 2^52 .. 2^53. Multiplied by it, even the largest doubles have finite
// sums; mantissas stay as they are, so nothing else changes. Returns 1 where no weight is positive. `largest` is
// finite.
// finite.
inline double scale_for_sums(double largest) {
  return largest > 0 ? std::ldexp(1.0, std::clamp(52 - std::ilogb(largest), -1000, 1000)) : 1.0;
}

}  // namespace ranktree::core
