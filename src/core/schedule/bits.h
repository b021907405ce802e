// Binary digits of member numbers.
#pragma once

#include <bit>
#include <cstdint>

#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

// The largest power of two not above a positive number.
inline Rank power_of_two_in(Rank number) {
  return static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(number)));
}

// The lowest bit that is set in a positive number.
inline Rank lowest_bit(Rank number) {
  const auto bits = static_cast<std::uint32_t>(number);
  return static_cast<Rank>(bits & (~bits + 1));
}

// `bit` is a power of two: whether the number has it, and the number with it flipped.
inline bool has_bit(Rank number, std::int64_t bit) { return number / bit % 2 != 0; }
inline Rank across(Rank number, Rank bit) { return has_bit(number, bit) ? number - bit : number + bit; }

}  // namespace ranktree::core::schedule
