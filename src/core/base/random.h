// A small generator with the same numbers on every platform; the standard distributions differ between libraries.
#pragma once

#include <cstdint>

namespace ranktree::core {

// SplitMix64 (G. Steele, D. Lea, C. Flood. Fast Splittable Pseudorandom Number Generators. OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t value = (state_ += 0x9e3779b97f4a7c15U);
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
  }

  // A number in 0..bound-1, bound at least 1; the bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64U);
  }

 private:
  std::uint64_t state_;
};

// The seed for one part of the work: the same in whatever order the parts are done.
inline std::uint64_t seed_of(std::uint64_t seed, std::uint64_t part) {
  return Random(seed + 0x632be59bd9b4e019U * (part + 1)).next();
}

}  // namespace ranktree::core
