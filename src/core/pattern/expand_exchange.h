// Algorithms without a root: every rank exchanges with partners or neighbours.
#pragma once

#include "core/pattern/expand_call.h"

namespace ranktree::core::pattern::expansion {

// The whole vector is exchanged with partners at distance 1, 2, 4, ... Ranks beyond the largest power of two send to a
// neighbour before and receive the result from it afterwards.
void allreduce_recursive_doubling(const Call& call, const Sends& sends);
// Reduce-scatter along a ring, then allgather along it: 2 (p-1) messages a rank.
void allreduce_ring(const Call& call, const Sends& sends);

// Each rank passes whole blocks to its right neighbour, p-1 times.
void allgather_ring(const Call& call, const Sends& sends);
void allgather_recursive_doubling(const Call& call, const Sends& sends);  // powers of two only
void allgather_bruck(const Call& call, const Sends& sends);
void allgather_neighbor_exchange(const Call& call, const Sends& sends);  // even numbers of ranks only

// One block from every rank to every other: directly, or through other ranks (Bruck's algorithm).
void alltoall_direct(const Call& call, const Sends& sends);
void alltoall_bruck(const Call& call, const Sends& sends);

// From rank r to r+1; to the partner at distance 1, 2, 4, ...
void scan_linear(const Call& call, const Sends& sends);
void scan_recursive_doubling(const Call& call, const Sends& sends);

void barrier_recursive_doubling(const Call& call, const Sends& sends);
void barrier_dissemination(const Call& call, const Sends& sends);

// `call.bytes` is the whole vector, of which every rank keeps one block.
void reduce_scatter_ring(const Call& call, const Sends& sends);
void reduce_scatter_pairwise(const Call& call, const Sends& sends);
void reduce_scatter_recursive_halving(const Call& call, const Sends& sends);
void reduce_scatter_recursive_doubling(const Call& call, const Sends& sends);
// J. L. Traeff, An improved algorithm for (non-commutative) reduce-scatter with an application, EuroPVM/MPI 2005.
void reduce_scatter_butterfly(const Call& call, const Sends& sends);
// The same, the blocks put into mirrored order beforehand if the ranks are a power of two.
void reduce_scatter_block_butterfly(const Call& call, const Sends& sends);

}  // namespace ranktree::core::pattern::expansion
