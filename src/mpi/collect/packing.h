// Elements of any datatype to bytes one after the other, and back.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "mpi/collect/types.h"

namespace ranktree::mpi::collect {

// `count` elements at `from` into count * layout.size bytes at `into`. Throws MpiError.
void pack(const void* from, std::int64_t count, MPI_Datatype type, const TypeLayout& layout, std::byte* into);

// The other way; gaps between elements, and inside them, are not written. Throws MpiError.
void unpack(const std::byte* from, void* into, std::int64_t count, MPI_Datatype type, const TypeLayout& layout);

// From elements to elements of the same type. Throws MpiError, std::bad_alloc.
void copy(const void* from, void* into, std::int64_t count, MPI_Datatype type, const TypeLayout& layout);

}  // namespace ranktree::mpi::collect
