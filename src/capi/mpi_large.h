// Collectives whose counts are MPI_Count (MPI 5.0 §2.5.8), on MPIs with such calls and without.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/collect/operation.h"
#include "ranktree/mpi_collect.h"

namespace ranktree::capi {

// The lists of a vector form, with the lengths that MPI defines; null where there are none. The operation's own are
// empty.
struct LargeLists {
  const MPI_Count* counts = nullptr;
  const MPI_Aint* displacements = nullptr;
};

// A count that does not fit into an int is expressed differently, by each rank for itself, since only the signature of
// the moved data must agree: a k-th of the elements of a type of k consecutive ones, with the least k that divides all
// counts and displacements of that side. Where no k up to 65,536 does, and for operands of reductions, whose type must
// stay, lists are refused (MPI_ERR_COUNT); a single count is passed on unchanged, and the native call refuses it.
// Blocking reductions to one vector are carried out in parts of 2^30 elements.
//
// Returns MPI's code after calling the error handler.
int call_large(const mpi::collect::Operation& operation, const LargeLists& lists = {}) noexcept;
int begin_large(const mpi::collect::Operation& operation, const LargeLists& lists, ranktree_Request* request) noexcept;
int prepare_large(const mpi::collect::Operation& operation, const LargeLists& lists,
                  ranktree_Request* request) noexcept;

}  // namespace ranktree::capi
