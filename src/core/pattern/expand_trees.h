// Rooted algorithms: every one is a tree over ranks shifted so that the root is 0.
#pragma once

#include "core/pattern/expand_call.h"

namespace ranktree::core::pattern::expansion {

// From the root to all ranks, the whole message over every edge.
void bcast_linear(const Call& call, const Sends& sends);
void bcast_chain(const Call& call, const Sends& sends);     // rank after rank
void bcast_binary(const Call& call, const Sends& sends);    // numbered level by level
void bcast_binomial(const Call& call, const Sends& sends);  // distances double: the parent lacks the highest bit
void bcast_binomial_in_order(const Call& call, const Sends& sends);  // distances halve: the parent lacks the lowest bit
void bcast_knomial(const Call& call, const Sends& sends);            // radix 4
// Two halves down the two subtrees of a binary tree, then exchanged between neighbours.
void bcast_split_binary(const Call& call, const Sends& sends);

// One part of the message to each rank down a binomial tree, then an allgather. The parts are ceil(elements / ranks).
void bcast_scatter_recursive_doubling(const Call& call, const Sends& sends);
void bcast_scatter_ring(const Call& call, const Sends& sends);

// From all ranks to the root, the whole vector over every edge.
void reduce_linear(const Call& call, const Sends& sends);
void reduce_chain(const Call& call, const Sends& sends);
void reduce_binary(const Call& call, const Sends& sends);
void reduce_binomial(const Call& call, const Sends& sends);  // the parent lacks the lowest bit
void reduce_in_order_binary(const Call& call,
                            const Sends& sends);  // rooted at the last rank, then one send to the root

// One block a rank.
void gather_linear(const Call& call, const Sends& sends);
void gather_linear_sync(const Call& call, const Sends& sends);  // the root requests each block, sent as two messages
void gather_binomial(const Call& call, const Sends& sends);
void scatter_linear(const Call& call, const Sends& sends);
void scatter_binomial(const Call& call, const Sends& sends);

// Empty messages.
void barrier_linear(const Call& call, const Sends& sends);
void barrier_tree(const Call& call, const Sends& sends);

}  // namespace ranktree::core::pattern::expansion
