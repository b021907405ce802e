// Decisions that have been made elsewhere, for later runs of `auto`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"

namespace ranktree::mpi::bench {

// Which variant serves a collective of MPI_COMM_WORLD. `bytes` as TrialCase takes them.
struct Decided {
  core::schedule::Collective collective;
  std::int64_t bytes = 0;
  core::predict::Choice choice;
};

// "allreduce,1024,shared:flat". Throws Error(kInput).
Decided read_decided(const std::string& text);

// Collective over MPI_COMM_WORLD: writes them into the folder of RANKTREE_COLL_CACHE. Throws MpiError, AgreedError,
// Error.
void keep(const std::vector<Decided>& decisions);

}  // namespace ranktree::mpi::bench
