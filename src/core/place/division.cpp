// Arity division (treematch-2013 §4.2.1).
#include <cstdint>
#include <span>
#include <vector>

#include "core/place/grouping.h"

namespace ranktree::core::place {
namespace {

// (p choose k) / (p choose j) for j < k <= p: the product of (p - i) / (i + 1) over i = j .. k-1. The factors fall with
// i, so they are taken from both ends, the small ones while the product is above 1: it never overflows meanwhile, and
// loses no more than a few last digits.
long double count_ratio(std::int64_t p, std::int64_t k, std::int64_t j) {
  long double ratio = 1;
  for (std::int64_t first = j, last = k - 1; first <= last;) {
    const std::int64_t i = ratio > 1 ? last-- : first++;
    ratio *= static_cast<long double>(p - i) / static_cast<long double>(i + 1);
  }
  return ratio;
}

int greatest_divisor(int arity) {
  for (int divisor = arity / 2; divisor > 1; --divisor) {
    if (arity % divisor == 0) return divisor;
  }
  return 1;
}

}  // namespace

// The gain f(p) = C(p,k) / (d C(p,k/d)) increases with p, so p* is the first p with f(p) > 1.
Division best_division(int arity) {
  Division division;
  division.divisor = greatest_divisor(arity);
  if (division.divisor == 1) return division;
  division.threshold = arity;
  while (count_ratio(division.threshold, arity, arity / division.divisor) <= division.divisor) ++division.threshold;
  return division;
}

// From the root down, p items are on a level: the product of the arities up to it. A level of arity k becomes one of
// arity d* with one of arity k / d* below it; the upper one is looked at again.
std::vector<int> divide_arities(std::span<const int> arities) {
  std::vector<int> result;
  std::int64_t above = 1;
  for (int arity : arities) {
    std::vector<int> below;  // the parts split off, outermost last
    const std::int64_t whole = above * arity;
    for (std::int64_t items = whole; arity > 1;) {
      const Division division = best_division(arity);
      if (division.divisor == 1 || items < division.threshold) break;
      below.push_back(arity / division.divisor);
      items /= arity / division.divisor;
      arity = division.divisor;
    }
    result.push_back(arity);
    result.insert(result.end(), below.rbegin(), below.rend());
    above = whole;
  }
  return result;
}

}  // namespace ranktree::core::place
