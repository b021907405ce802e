// The parts that schedules are put together from. Each appends the steps of this rank to a builder; all members of the
// team append theirs in the same order.
//
// Data that is reduced is read from an operand and ends in a target. The two may be the same elements (MPI_IN_PLACE, or
// a stage that goes on with the result of the one before), else they do not overlap. A function that returns a range
// says where its result is: a team of one changes nothing and returns the operand.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {

// Where the block of a member is. Blocks of no elements are left out of every exchange.
using Blocks = std::function<Range(Rank)>;

// A range in `parts` blocks for the first members of a team of `size`, counted from member `first`; the others have
// none.
Blocks slices(const Range& whole, Rank parts, Rank size, Rank first = 0);

// --- broadcast.cpp. `team` is rotated so that member 0 is the root.
void broadcast(Builder& builder, const Team& team, Algorithm algorithm, const Range& data);
// Each half travels in segments; the exchange at the end does not. 0: no segments.
void split_binary(Builder& builder, const Team& team, const Range& data, std::int64_t segment);
// From the root, which has all blocks: consecutive ones, in the order of members.
void scatter_blocks(Builder& builder, const Team& team, const Blocks& blocks);

// --- reduce.cpp
struct Reduction {
  Algorithm algorithm = Algorithm::kBinomial;
  Rank root = 0;  // a member
  bool in_order = false;
};
// At the root the result; elsewhere `target` is not used and the value means nothing.
Range reduce(Builder& builder, const Team& team, const Reduction& reduction, const Range& operand, const Range& target);

// What `lower` send, the operand, and what `higher` send, combined in this order.
struct Operands {
  std::vector<Rank> lower;
  Range own;
  std::vector<Rank> higher;
};
Range combine(Builder& builder, const Operands& operands, const Range& target);

// --- doubling.cpp, halving.cpp: partners at distance 1, 2, 4, ...
Range allreduce_doubling(Builder& builder, const Team& team, bool in_order, const Range& operand, const Range& target);
Range allreduce_halving(Builder& builder, const Team& team, bool in_order, const Range& operand, const Range& target);
Range reduce_halving(Builder& builder, const Team& team, const Reduction& reduction, const Range& operand,
                     const Range& target);

// --- exchange.cpp: all blocks of a buffer, or one of them.
// Own blocks are in place. Doubling wants consecutive blocks in the order of members.
void allgather_flat(Builder& builder, const Team& team, const Blocks& blocks);
void allgather_ring(Builder& builder, const Team& team, const Blocks& blocks);
void allgather_doubling(Builder& builder, const Team& team, const Blocks& blocks);
// blocks(i) of this rank's operand is combined with those of others at member i; this rank's ends in `target`.
// The ring needs a commutative operation.
void reduce_scatter_ring(Builder& builder, const Team& team, const Blocks& operand, const Range& target);
void reduce_scatter_pairwise(Builder& builder, const Team& team, bool in_order, const Blocks& operand,
                             const Range& target);
void alltoall_pairwise(Builder& builder, const Team& team, const Blocks& from, const Blocks& into);
void alltoall_bruck(Builder& builder, const Team& team, const Blocks& from, const Blocks& into);

// --- allreduce.cpp
struct Allreduction {
  Algorithm algorithm = Algorithm::kRing;
  bool in_order = false;
  std::int64_t segment = 0;  // segmented ring: elements of a block in one round
};
Range allreduce(Builder& builder, const Team& team, const Allreduction& how, const Range& operand, const Range& target);

// --- rooted.cpp: whole blocks to and from the root, flat or up and down a binomial tree.
// blocks(i) is member i's place in a range where the members' blocks follow each other; only at the root does that
// range have to exist (in the flat forms blocks may be anywhere, and other ranks need to know only their own). `own` is
// where this rank's block is, or is to be, outside of that range; the root's own is left alone when it is the same.
void gather(Builder& builder, const Team& team, Rank root, Algorithm algorithm, const Range& own, const Blocks& blocks);
void scatter(Builder& builder, const Team& team, Rank root, Algorithm algorithm, const Blocks& blocks,
             const Range& own);

// --- barrier.cpp: empty messages. `waits` are the steps that everything so far hangs on. `team` is rotated so that
// member 0 is the root.
void arrive(Builder& builder, const Team& team, Algorithm tree, std::vector<std::int32_t>& waits);
void release(Builder& builder, const Team& team, Algorithm tree, std::vector<std::int32_t>& waits);
void barrier(Builder& builder, const Team& team, Algorithm algorithm, std::vector<std::int32_t>& waits);

}  // namespace ranktree::core::schedule
