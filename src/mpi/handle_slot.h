// Where a handle of MPI's is in a direct-mapped cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ranktree::mpi {

// MPI handles are pointers in Open MPI and ints in MPICH.
template <typename Handle>
std::uint64_t handle_bits(Handle handle) noexcept {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

// The slot of a handle, from the upper bits of a product: low bits of pointers are all alike.
template <std::size_t slots, typename Handle>
std::size_t slot_of(Handle handle) noexcept {
  static_assert((slots & (slots - 1)) == 0);
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(handle_bits(handle) * kGolden >> 40U) & (slots - 1);
}

}  // namespace ranktree::mpi
