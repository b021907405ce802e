// The MPI's reduction of two operands of this rank, for the core's operations that combine.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "core/shared/combining.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/memory.h"

namespace ranktree::mpi::collect {

struct LocalCombine {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::int64_t shift = 0;  // from an element's address to its lowest byte
  FirstError errors;

  // Of elements of so many bytes; as long as this is where it is. Never more elements than a cell has bytes.
  core::shared::Combine with(std::size_t element) {
    return {[](void* caller, const std::byte* in, std::byte* inout, std::size_t elements) {
              auto& one = *static_cast<LocalCombine*>(caller);
              const int count = static_cast<int>(elements);
              one.errors.note(PMPI_Reduce_local(in - one.shift, inout - one.shift, count, one.type, one.op),
                              "MPI_Reduce_local");
            },
            this, element, bytes_ahead(shift)};
  }
};

}  // namespace ranktree::mpi::collect
