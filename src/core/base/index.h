#pragma once

#include <cstddef>
#include <cstdint>

namespace ranktree::core {

// A rank, slot, vertex or the like, which is not negative, as a position in a vector.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace ranktree::core
