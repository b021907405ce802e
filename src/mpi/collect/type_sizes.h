// Sizes of datatypes, remembered by a thread: the MPI takes longer to tell than all else that a call needs which is
// left to it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpi/handle_slot.h"

namespace ranktree::mpi::collect {

// Of a direct-mapped cache. A program can free no named type, and so no handle that was another's becomes a named
// one's: both are remembered.
struct TypeSize {
  MPI_Datatype type{};
  std::int64_t bytes = 0;  // of a named type; 0: to be asked for each time
};
inline constexpr std::size_t kTypeSizes = 16;
using TypeSizes = std::array<TypeSize, kTypeSizes>;

// 0 where the MPI says none.
inline std::int64_t ask_size(MPI_Datatype type, TypeSize& slot) noexcept {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  if (slot.type == type) return static_cast<std::int64_t>(size);
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  int combiner = MPI_COMBINER_DUP;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner) == MPI_SUCCESS) {
    slot = {type, combiner == MPI_COMBINER_NAMED ? static_cast<std::int64_t>(size) : 0};
  }
  return static_cast<std::int64_t>(size);
}

inline std::int64_t bytes_of(std::int64_t count, MPI_Datatype type, TypeSizes& sizes) noexcept {
  TypeSize& slot = sizes[slot_of<kTypeSizes>(type)];
  if (slot.type == type && slot.bytes != 0) [[likely]]
    return count * slot.bytes;
  return count * ask_size(type, slot);
}

// Whether it is a named type whose size has been asked for.
inline bool is_known_named(MPI_Datatype type, const TypeSizes& sizes) noexcept {
  const TypeSize& slot = sizes[slot_of<kTypeSizes>(type)];
  return slot.type == type && slot.bytes != 0;
}

}  // namespace ranktree::mpi::collect
