// Schedules of the base algorithms: one function turns a request and an algorithm into the steps of one rank.
//
// Buffers, in elements (p ranks, n = Request::count; a block of rank i has counts[i] elements, n when counts is empty):
//   broadcast       output n everywhere; at the root it holds the data beforehand
//   reduce          input n; output n at the root only
//   allreduce       input n; output n
//   barrier         none
//   gather          input: own block; output at the root only: all blocks
//   scatter         input at the root only: all blocks; output: own block
//   allgather       input: own block; output: all blocks
//   reduce_scatter  input: all blocks; output: own block
//   alltoall        input p n, output p n; counts must be empty
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/schedule/links.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

enum class Collective : std::uint8_t {
  kBroadcast,
  kReduce,
  kAllreduce,
  kBarrier,
  kGather,
  kScatter,
  kAllgather,
  kReduceScatter,
  kAlltoall
};
inline constexpr std::size_t kCollectives = 9;

// Collectives that combine operands.
constexpr bool reduces(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kAllreduce ||
         collective == Collective::kReduceScatter;
}

// Collectives in which one rank sends to all others, or receives from all others.
constexpr bool has_root(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kGather || collective == Collective::kScatter;
}

// Collectives of one vector, which may be cut anywhere because element i of one rank belongs to element i of the
// others.
constexpr bool takes_segments(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kAllreduce;
}

// The elements of a segment of `whole`, at least one: all of them where segments are longer, or 0 (not wanted).
constexpr std::int64_t segment_of(std::int64_t whole, std::int64_t segment) {
  const std::int64_t most = std::max<std::int64_t>(whole, 1);
  return segment > 0 ? std::min(segment, most) : most;
}

enum class Algorithm : std::uint8_t {
  kFlat,               // root <-> every rank, every rank <-> every rank
  kChain,              // rank after rank; the papers' linear tree
  kPipeline,           // the chain with segments; without a segment size it is the chain
  kBinary,             // complete binary tree, numbered level by level
  kBinomial,           // the parent lacks the lowest bit, so that subtrees are consecutive ranks
  kKNomial,            // the same in base 4: fewer levels, up to three children a digit
  kSplitBinary,        // two halves down the two subtrees of a binary tree, then exchanged
  kInOrderBinary,      // binary tree whose subtrees are consecutive ranks
  kScatterRing,        // broadcast: binomial scatter, ring allgather
  kScatterDoubling,    // broadcast: binomial scatter, recursive doubling allgather
  kRabenseifner,       // recursive halving, then a gather or an allgather over the same partners
  kLinear,             // allreduce: flat reduce, flat broadcast
  kNonOverlapping,     // allreduce: reduce, then broadcast, on one in-order binary tree, segmented
  kRecursiveDoubling,  // whole vectors with partners at distance 1, 2, 4, ...
  kRing,               // neighbours only; allreduce: reduce-scatter, then allgather
  kSegmentedRing,      // the ring's reduce-scatter in several rounds of segments, one allgather
  kPairwise,           // reduce-scatter with every rank directly, in rank order; allreduce: then a ring allgather
  kDissemination,      // barrier: to the rank at distance 1, 2, 4, ... around a circle
  kBruck               // alltoall: blocks travel by the bits of their distance
};

std::string_view collective_name(Collective collective);  // "broadcast", "reduce_scatter", ...
std::string_view algorithm_name(Algorithm algorithm);     // "flat", "scatter-ring-allgather", ...
std::optional<Collective> collective_from_name(std::string_view word);
std::optional<Algorithm> algorithm_from_name(std::string_view word);

// One call of a collective. All fields but in_place are the same on every rank.
struct Request {
  Collective collective = Collective::kBroadcast;
  Rank ranks = 1;
  Rank root = 0;
  std::int64_t count = 0;
  // Gather, scatter, allgather and reduce_scatter with blocks of different sizes: the elements of each rank's block,
  // and where the block begins in the buffer of all blocks (packed when empty; reduce_scatter takes none). On ranks
  // other than the root, the flat gather and scatter read only their own entries, because MPI_Gatherv provides no
  // others.
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> displacements;
  // False: operands must be combined in rank order.
  bool commutative = true;
  // MPI_IN_PLACE on this rank: the operand or own block is already in the output, where MPI defines it (reduce_scatter
  // and alltoall: all blocks are; scatter: the root's block stays in the input and the output is not touched).
  bool in_place = false;
};

struct Method {
  Algorithm algorithm = Algorithm::kBinomial;
  // Elements moved at once; 0 moves all. Broadcast, reduce and allreduce only. For the segmented ring, elements of one
  // block.
  std::int64_t segment = 0;
};

// The algorithms of a collective, in the order of the enumeration.
std::span<const Algorithm> algorithms_of(Collective collective);

// False when the algorithm always combines operands out of rank order, so that it serves commutative operations only.
// True for algorithms that do not combine.
bool keeps_rank_order(Collective collective, Algorithm algorithm);

// True when a vector of `count` elements moves as a whole: then messages that share a link may leave in turn. Segments
// fill the link without waiting.
bool moves_whole(const Request& request, std::int64_t segment);

// The steps of `rank`, in time and memory proportional to their number (x log). Throws Error(kInput) when the request
// is inconsistent (root or rank outside the communicator, negative counts, lists of another length),
// Error(kUnsupported) when the collective has no such algorithm or the algorithm does not keep the rank order that a
// non-commutative operation needs. With `links`, parents in binomial trees send in turn over a link that their messages
// share.
Program make(const Request& request, const Method& method, Rank rank, const Links* links = nullptr);

// The programs of all ranks, for tests and models.
Schedule make_all(const Request& request, const Method& method, const Links* links = nullptr);

}  // namespace ranktree::core::schedule
