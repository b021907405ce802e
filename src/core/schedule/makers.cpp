#include "core/schedule/makers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/builder.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/layout.h"
#include "core/schedule/links.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/stages.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {
namespace {

// One call as one rank sees it.
struct Call {
  const Request& request;
  const Method& method;
  const Hierarchy& hierarchy;
  const Team& team;
  Builder& builder;

  [[nodiscard]] Rank me() const { return team.me(); }
  [[nodiscard]] bool in_order() const { return !request.commutative; }
  [[nodiscard]] Range output() const { return {Buffer::kOutput, 0, request.count}; }
  [[nodiscard]] Range operand() const {
    return {request.in_place ? Buffer::kOutput : Buffer::kInput, 0, request.count};
  }
};

void make_broadcast(const Call& call) {
  const Team team = call.team.rotated(call.request.root);
  if (call.method.algorithm == Algorithm::kSplitBinary) {
    split_binary(call.builder, team, call.output(), call.method.segment);
    return;
  }
  pipeline(call.builder, call.request.count, call.method.segment, {[&](const Segment& segment) {
             broadcast(call.builder, team, call.method.algorithm, segment.of(call.output()));
           }});
}

void make_reduce(const Call& call) {
  const Request& request = call.request;
  const Range given = call.me() == request.root ? call.operand() : Range{Buffer::kInput, 0, request.count};
  const Reduction reduction{call.method.algorithm, request.root, call.in_order()};
  pipeline(call.builder, request.count, call.method.segment, {[&](const Segment& segment) {
             const Range target = segment.of(call.output());
             const Range result = reduce(call.builder, call.team, reduction, segment.of(given), target);
             if (call.me() == request.root) call.builder.copy(result, target);
           }});
}

void make_allreduce(const Call& call) {
  const bool rounds = call.method.algorithm == Algorithm::kSegmentedRing;
  const Allreduction how{call.method.algorithm, call.in_order(), call.method.segment};
  pipeline(call.builder, call.request.count, rounds ? 0 : call.method.segment, {[&](const Segment& segment) {
             const Range target = segment.of(call.output());
             call.builder.copy(allreduce(call.builder, call.team, how, segment.of(call.operand()), target), target);
           }});
}

void make_barrier(const Call& call) {
  std::vector<std::int32_t> waits;
  barrier(call.builder, call.team, call.method.algorithm, waits);
}

// Where all blocks are in a buffer, in rank order: the caller's layout, for algorithms that access blocks one by one.
Blocks given_blocks(const Call& call, Buffer buffer, const Packing& packing) {
  return [&call, buffer, &packing](Rank rank) {
    if (!call.request.displacements.empty()) return given_block(call.request, buffer, rank);
    return Range{buffer, packing.first(rank), packing.first(rank + 1) - packing.first(rank)};
  };
}

// The same blocks packed in one range.
Blocks packed_blocks(const Range& whole, const Packing& packing) {
  return [&whole, &packing](Rank rank) { return packing.range(whole, rank, rank + 1); };
}

void make_gather(const Call& call) {
  const Request& request = call.request;
  const bool root = call.me() == request.root;
  Range own{Buffer::kInput, 0, block_count(request, call.me())};
  if (call.method.algorithm == Algorithm::kFlat && !root) {
    gather(call.builder, call.team, request.root, Algorithm::kFlat, own, {});
    return;
  }
  const Packing packing(request, call.hierarchy);
  const Blocks given = given_blocks(call, Buffer::kOutput, packing);
  if (root && request.in_place) own = given(call.me());
  const bool direct = call.method.algorithm == Algorithm::kFlat || packing.is_given();
  const Range whole =
      direct || !root ? Range{Buffer::kOutput, 0, packing.total()} : call.builder.scratch(packing.total());
  const Blocks packed = packed_blocks(whole, packing);
  gather(call.builder, call.team, request.root, call.method.algorithm, own, direct ? given : packed);
  for (Rank rank = 0; root && !direct && rank < request.ranks; ++rank) call.builder.copy(packed(rank), given(rank));
}

void make_scatter(const Call& call) {
  const Request& request = call.request;
  const bool root = call.me() == request.root;
  Range own{Buffer::kOutput, 0, block_count(request, call.me())};
  if (call.method.algorithm == Algorithm::kFlat && !root) {
    scatter(call.builder, call.team, request.root, Algorithm::kFlat, {}, own);
    return;
  }
  const Packing packing(request, call.hierarchy);
  const Blocks given = given_blocks(call, Buffer::kInput, packing);
  const bool direct = call.method.algorithm == Algorithm::kFlat || packing.is_given();
  const Range whole =
      direct || !root ? Range{Buffer::kInput, 0, packing.total()} : call.builder.scratch(packing.total());
  const Blocks packed = packed_blocks(whole, packing);
  for (Rank rank = 0; root && !direct && rank < request.ranks; ++rank) call.builder.copy(given(rank), packed(rank));
  if (root && request.in_place) own = direct ? given(call.me()) : packed(call.me());
  scatter(call.builder, call.team, request.root, call.method.algorithm, direct ? given : packed, own);
}

void make_allgather(const Call& call) {
  const Packing packing(call.request, call.hierarchy);
  const Blocks given = given_blocks(call, Buffer::kOutput, packing);
  const bool direct = call.method.algorithm != Algorithm::kRecursiveDoubling || packing.is_given();
  const Range whole = direct ? Range{Buffer::kOutput, 0, packing.total()} : call.builder.scratch(packing.total());
  const Blocks packed = packed_blocks(whole, packing);
  const Blocks& blocks = direct ? given : packed;
  const Range own = call.request.in_place ? given(call.me()) : Range{Buffer::kInput, 0, blocks(call.me()).count};
  call.builder.copy(own, blocks(call.me()));
  if (call.method.algorithm == Algorithm::kFlat) {
    allgather_flat(call.builder, call.team, blocks);
  } else if (call.method.algorithm == Algorithm::kRing) {
    allgather_ring(call.builder, call.team, blocks);
  } else {
    allgather_doubling(call.builder, call.team, blocks);
  }
  for (Rank rank = 0; !direct && rank < call.request.ranks; ++rank) call.builder.copy(packed(rank), given(rank));
}

// With MPI_IN_PLACE the result would overwrite blocks that other ranks still need, so it is made in scratch.
void make_reduce_scatter(const Call& call) {
  const Packing packing(call.request, call.hierarchy);
  const Range operand{call.operand().buffer, 0, packing.total()};
  const Blocks blocks = packed_blocks(operand, packing);
  const Range target{Buffer::kOutput, 0, blocks(call.me()).count};
  const bool apart = call.request.in_place && blocks(call.me()) != target;
  if (call.method.algorithm == Algorithm::kBinomial || call.method.algorithm == Algorithm::kRabenseifner) {
    const Range sum = call.me() == 0 ? call.builder.scratch(operand.count) : operand;
    const Range result = reduce(call.builder, call.team, {call.method.algorithm, 0, call.in_order()}, operand, sum);
    const Blocks reduced = packed_blocks(result, packing);
    scatter(call.builder, call.team, 0, Algorithm::kBinomial, reduced, target);
    return;
  }
  const Range place = apart ? call.builder.scratch(target.count) : target;
  if (call.method.algorithm == Algorithm::kPairwise) {
    reduce_scatter_pairwise(call.builder, call.team, call.in_order(), blocks, place);
  } else {
    reduce_scatter_ring(call.builder, call.team, blocks, place);
  }
  call.builder.copy(place, target);
}

void make_alltoall(const Call& call) {
  const std::int64_t count = call.request.count;
  Range all{call.operand().buffer, 0, count * call.request.ranks};
  if (call.request.in_place) {
    const Range kept = call.builder.scratch(all.count);
    call.builder.copy(all, kept);
    all = kept;
  }
  const Blocks from = [&](Rank rank) { return within(all, count * rank, count); };
  const Blocks into = [&](Rank rank) { return Range{Buffer::kOutput, count * rank, count}; };
  if (call.method.algorithm == Algorithm::kFlat) {
    alltoall_pairwise(call.builder, call.team, from, into);
  } else {
    alltoall_bruck(call.builder, call.team, from, into);
  }
}

using Maker = void (*)(const Call&);
constexpr std::array<Maker, 9> kMakers = {make_broadcast, make_reduce,         make_allreduce,
                                          make_barrier,   make_gather,         make_scatter,
                                          make_allgather, make_reduce_scatter, make_alltoall};

void check_method(const Request& request, const Method& method) {
  const std::span<const Algorithm> known = algorithms_of(request.collective);
  const std::string what =
      std::string(collective_name(request.collective)) + " by " + std::string(algorithm_name(method.algorithm));
  if (std::find(known.begin(), known.end(), method.algorithm) == known.end()) {
    throw Error(Fault::kUnsupported, "schedule: " + what + ": there is no such algorithm");
  }
  if (method.segment < 0) {
    throw Error(Fault::kInput,
                "schedule: segment: expected 0 or more elements, found " + std::to_string(method.segment));
  }
  if (!request.commutative && !keeps_rank_order(request.collective, method.algorithm)) {
    throw Error(Fault::kUnsupported, "schedule: " + what + ": expected a commutative operation, found another");
  }
}

}  // namespace

bool moves_whole(const Request& request, std::int64_t segment) {
  return !takes_segments(request.collective) || segment == 0 || segment >= request.count;
}

Program make(const Request& request, const Method& method, Rank rank, const Links* links) {
  check_method(request, method);
  // MPI_Gatherv and MPI_Scatterv give the counts to the root only.
  const bool rooted = request.collective == Collective::kGather || request.collective == Collective::kScatter;
  check_request(request, rank, !rooted || method.algorithm != Algorithm::kFlat || rank == request.root);
  const Hierarchy hierarchy = Hierarchy::flat(request.ranks);
  const View view(hierarchy, rank, 0);
  const Team team = view.team(0);
  Builder builder(rank, arenas_for(1), moves_whole(request, method.segment) ? links : nullptr);
  kMakers[static_cast<std::size_t>(request.collective)]({request, method, hierarchy, team, builder});
  return std::move(builder).take();
}

Schedule make_all(const Request& request, const Method& method, const Links* links) {
  Schedule schedule;
  for (Rank rank = 0; rank < request.ranks; ++rank) schedule.push_back(make(request, method, rank, links));
  return schedule;
}

}  // namespace ranktree::core::schedule
