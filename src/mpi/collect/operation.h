// One collective call as its caller made it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "core/schedule/makers.h"

namespace ranktree::mpi::collect {

// The arguments of MPI's call, by MPI's rules: what MPI ignores on a rank is ignored here, MPI_IN_PLACE is itself. A
// broadcast has its buffer, count and type in `receive`; a barrier has nothing. The caller keeps all alive until the
// operation has ended, the lists too.
struct Operation {
  struct Side {
    void* buffer = nullptr;  // of the send side never written
    std::int64_t count = 0;  // of the calling rank's block where there are blocks
    MPI_Datatype type = MPI_DATATYPE_NULL;
    // Vector forms, on the side that has all blocks, in elements of `type` (reduce_scatter: counts only); else empty.
    std::span<const int> counts;
    std::span<const int> displacements;
  };

  core::schedule::Collective collective = core::schedule::Collective::kBarrier;
  bool vector = false;  // Gatherv, Scatterv, Allgatherv, Reduce_scatter: blocks of different sizes
  Side send;
  Side receive;  // reductions: has the type and the count also where only the root receives
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  bool in_rank_order = false;  // operands are combined in rank order even where the operation commutes
};

}  // namespace ranktree::mpi::collect
