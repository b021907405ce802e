// The parts that schedules are put together from. Each appends the steps of this rank to a builder; all members of the
// team append theirs in the same order.
//
// Data that is reduced is read from an operand and finishes in a target. The two may be the same elements
// (MPI_IN_PLACE, or a stage that continues with the result of the one before), else they do not overlap. A function
// that returns a range returns where its result is: a team of one changes nothing and returns the operand.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {

// The range that holds the block of a member. Blocks of no elements are left out of every exchange.
using Blocks = std::function<Range(Rank)>;

// A range in `parts` blocks for the first members of a team of `size`, counted from member `first`; the others have
// none.
Blocks slices(const Range& whole, Rank parts, Rank size, Rank first = 0);

// --- broadcast.cpp. `team` is rotated so that member 0 is the root.
void broadcast(Builder& builder, const Team& team, Algorithm algorithm, const Range& data);
// Each half travels in segments of so many elements (0: unsegmented); the exchange at the end is not segmented.
void split_binary(Builder& builder, const Team& team, const Range& data, std::int64_t segment);
// The root holds all blocks; they are adjacent, in the order of members.
void scatter_blocks(Builder& builder, const Team& team, const Blocks& blocks);

// --- reduce.cpp
struct Reduction {
  Algorithm algorithm = Algorithm::kBinomial;
  Rank root = 0;  // a member
  bool in_order = false;
};
// At the root, where the result is. Elsewhere `target` is not used and the returned range has no meaning.
Range reduce(Builder& builder, const Team& team, const Reduction& reduction, const Range& operand, const Range& target);

// The operands that `lower` send, this rank's own, and those that `higher` send, combined in this order.
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
// Own blocks are in place already. Doubling needs adjacent blocks in the order of members.
void allgather_flat(Builder& builder, const Team& team, const Blocks& blocks);
void allgather_ring(Builder& builder, const Team& team, const Blocks& blocks);
void allgather_doubling(Builder& builder, const Team& team, const Blocks& blocks);
// Block i of this rank's operand is combined with block i of the others at member i; this rank's block finishes in
// `target`. The ring needs a commutative operation.
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
// blocks(i) is where member i's block is in a range that holds the members' blocks one after the other. Only the root
// needs that range. In the flat forms blocks may be anywhere, and other ranks need to know only their own. `own` is
// where this rank's block is, or will be, outside that range; the root's own block stays where it is if the two are the
// same.
void gather(Builder& builder, const Team& team, Rank root, Algorithm algorithm, const Range& own, const Blocks& blocks);
void scatter(Builder& builder, const Team& team, Rank root, Algorithm algorithm, const Blocks& blocks,
             const Range& own);

// --- barrier.cpp: empty messages. `waits` are the steps that all following steps must wait for. `team` is rotated so
// that member 0 is the root.
void arrive(Builder& builder, const Team& team, Algorithm tree, std::vector<std::int32_t>& waits);
void release(Builder& builder, const Team& team, Algorithm tree, std::vector<std::int32_t>& waits);
void barrier(Builder& builder, const Team& team, Algorithm algorithm, std::vector<std::int32_t>& waits);

}  // namespace ranktree::core::schedule
