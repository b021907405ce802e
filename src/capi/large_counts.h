// Values of MPI_Count that must fit into an int.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>

namespace ranktree::capi {

// The least k from 1 to 65,536 that divides all numbers and brings them to at most `limit`; 0 where there is none.
inline std::int64_t common_factor(std::span<const std::int64_t> numbers, std::int64_t limit) {
  constexpr std::int64_t kLargest = 65536;
  std::int64_t most = 0;
  std::int64_t divisor = 0;
  for (const std::int64_t number : numbers) {
    if (number == std::numeric_limits<std::int64_t>::min()) return 0;  // has no absolute value
    most = std::max(most, std::abs(number));
    divisor = std::gcd(divisor, number);
  }
  if (most <= limit) return 1;
  for (std::int64_t factor = (most - 1) / limit + 1; factor <= kLargest; ++factor) {
    if (divisor % factor == 0) return factor;
  }
  return 0;
}

}  // namespace ranktree::capi
