// Weights whose sums stay finite.
#pragma once

#include <algorithm>
#include <cmath>

namespace ranktree::core {

// A power of two that brings the largest weight to 2^exponent .. 2^(exponent + 1), or as near to it as a finite factor
// does; mantissas stay as they are. Returns 1 where no weight is positive. `largest` is finite.
inline double scale_to(int exponent, double largest) {
  return largest > 0 ? std::ldexp(1.0, std::clamp(exponent - std::ilogb(largest), -1000, 1000)) : 1.0;
}

// Multiplied by it, even the largest doubles have finite sums; nothing else changes.
inline double scale_for_sums(double largest) { return scale_to(52, largest); }

}  // namespace ranktree::core
