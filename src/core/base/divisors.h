// The divisors of a number: how many groups, or processes of a dimension, ranks can be shared among evenly.
#pragma once

#include <cstdint>
#include <vector>

namespace ranktree::core {

// The divisors of a positive number below 2^31, ascending. O(sqrt(number)).
inline std::vector<std::int32_t> divisors_of(std::int64_t number) {
  std::vector<std::int32_t> small;
  std::vector<std::int32_t> large;
  for (std::int64_t divisor = 1; divisor * divisor <= number; ++divisor) {
    if (number % divisor != 0) continue;
    small.push_back(static_cast<std::int32_t>(divisor));
    if (divisor * divisor != number) large.push_back(static_cast<std::int32_t>(number / divisor));
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

}  // namespace ranktree::core
