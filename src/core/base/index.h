#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ranktree::core {

// A rank, slot, vertex or the like, which is not negative, as a position in a vector.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// -1 for what the smaller type does not hold: no check of an index lets it pass.
template <class Number>
constexpr Number narrowed(std::int64_t value) {
  return std::in_range<Number>(value) ? static_cast<Number>(value) : Number{-1};
}

}  // namespace ranktree::core
