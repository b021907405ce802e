// Rabenseifner's reductions: a reduce-scatter by vector halving and distance doubling, then an allgather or a gather.
// R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, 2005, §4.
// Open MPI and MPICH cut the vector and treat ranks beyond the largest power of two differently.
#pragma once

#include "core/pattern/expand_call.h"

namespace ranktree::core::pattern::expansion {

void allreduce_rabenseifner_openmpi(const Call& call, const Sends& sends);
void allreduce_rabenseifner_mpich(const Call& call, const Sends& sends);
void reduce_rabenseifner_openmpi(const Call& call, const Sends& sends);
void reduce_rabenseifner_mpich(const Call& call, const Sends& sends);

}  // namespace ranktree::core::pattern::expansion
