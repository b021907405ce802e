// Collectives whose counts are MPI_Count (MPI 5.0 §2.5.8), on MPIs with such calls and without.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/collect/operation.h"
#include "ranktree/mpi_collect.h"

namespace ranktree::capi {

// The lists of a vector form, as long as MPI says; null where there are none. The operation's own are empty.
struct LargeLists {
  const MPI_Count* counts = nullptr;
  const MPI_Aint* displacements = nullptr;
};

// What does not fit into an int is told in other words, each rank for itself, since only the signature of what moves
// must agree: a k-th of the elements, of a type of k consecutive ones, with the least k that divides all counts and
// displacements of that side. Where there is no such k up to 65,536, and for operands of reductions, whose type must
// stay: lists are refused (MPI_ERR_COUNT), a single count goes on as it is, and the MPI's own call refuses it, though
// not our schedules. Blocking reductions to one vector are made in parts of 2^30 elements.
//
// Return MPI's code; the error handler has been called then.
int call_large(const mpi::collect::Operation& operation, const LargeLists& lists = {}) noexcept;
int begin_large(const mpi::collect::Operation& operation, const LargeLists& lists, ranktree_Request* request) noexcept;
int prepare_large(const mpi::collect::Operation& operation, const LargeLists& lists,
                  ranktree_Request* request) noexcept;

}  // namespace ranktree::capi
