// Properties of datatypes and operations that collectives need, and packing.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "mpi/collect/operation.h"

namespace ranktree::mpi::collect {

struct TypeLayout {
  std::int64_t size = 0;  // bytes of data in an element
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  // Elements lie as they are packed: a basic type without gaps, or consecutive ones.
  bool plain = false;
  bool named = false;  // MPI's own: no program frees it, and its handle stays its own
};

inline constexpr TypeLayout kByteLayout{
    .size = 1, .extent = 1, .true_lower = 0, .true_extent = 1, .plain = true, .named = true};

// Throws MpiError.
TypeLayout layout_of(MPI_Datatype type);

// Bytes of data in an element. Throws MpiError.
std::int64_t size_of(MPI_Datatype type);

// True where elements of a reduction may be combined by MPI_Reduce_local: an operation of the program's own, or one of
// MPI's with a type that it is defined for. Others stay native: the MPI refuses them or supports more.
bool can_reduce(MPI_Op op, MPI_Datatype type);

bool is_commutative(MPI_Op op);

// Has one operand of the whole on each rank.
inline bool reduces(const Operation& operation) { return core::schedule::reduces(operation.collective); }

// Elements of any datatype to bytes one after the other, and back.

// `count` elements at `from` into count * layout.size bytes at `into`. Throws MpiError.
void pack(const void* from, std::int64_t count, MPI_Datatype type, const TypeLayout& layout, std::byte* into);

// The reverse of pack(); gaps between elements, and inside them, are not written. Throws MpiError.
void unpack(const std::byte* from, void* into, std::int64_t count, MPI_Datatype type, const TypeLayout& layout);

// From elements to elements of the same type. Throws MpiError, std::bad_alloc.
void copy(const void* from, void* into, std::int64_t count, MPI_Datatype type, const TypeLayout& layout);

}  // namespace ranktree::mpi::collect
