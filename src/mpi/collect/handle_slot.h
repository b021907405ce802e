// Where a handle of MPI's is in a small cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ranktree::mpi::collect {

// From the upper bits of a product: the low bits of handles that are pointers are all alike.
template <std::size_t slots, typename Handle>
std::size_t slot_of(Handle handle) noexcept {
  static_assert((slots & (slots - 1)) == 0);
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(std::hash<Handle>{}(handle)*kGolden >> 40U) & (slots - 1);
}

}  // namespace ranktree::mpi::collect
