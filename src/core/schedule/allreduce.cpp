#include <algorithm>
#include <cstdint>

#include "core/schedule/builder.h"
#include "core/schedule/makers.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {
namespace {

Range reduce_and_broadcast(Builder& builder, const Team& team, const Reduction& reduction, const Range& operand,
                           const Range& target) {
  reduce(builder, team, reduction, operand, target);
  broadcast(builder, team, reduction.algorithm, target);
  return target;
}

// In each round a segment of every block travels around the ring (hier-reduce-2016 §2.1, as Open MPI does it).
void reduce_scatter_in_rounds(Builder& builder, const Team& team, const Blocks& operand, const Range& target,
                              std::int64_t segment) {
  const std::int64_t most = operand(0).count;
  const std::int64_t step = segment_of(most, segment);
  for (std::int64_t at = 0; at < most; at += step) {
    const auto cut = [at, step](const Range& block) {
      const std::int64_t first = std::min(at, block.count);
      return within(block, first, std::min(step, block.count - first));
    };
    reduce_scatter_ring(builder, team, [&](Rank member) { return cut(operand(member)); }, cut(target));
  }
}

}  // namespace

Range allreduce(Builder& builder, const Team& team, const Allreduction& how, const Range& operand,
                const Range& target) {
  if (team.size() == 1) return operand;
  const Blocks from = slices(operand, team.size(), team.size());
  const Blocks into = slices(target, team.size(), team.size());
  switch (how.algorithm) {
    case Algorithm::kLinear:
      return reduce_and_broadcast(builder, team, {Algorithm::kFlat, 0, how.in_order}, operand, target);
    case Algorithm::kNonOverlapping:
      return reduce_and_broadcast(builder, team, {Algorithm::kInOrderBinary, 0, how.in_order}, operand, target);
    case Algorithm::kRecursiveDoubling:
      return allreduce_doubling(builder, team, how.in_order, operand, target);
    case Algorithm::kRabenseifner:
      return allreduce_halving(builder, team, how.in_order, operand, target);
    case Algorithm::kPairwise:
      reduce_scatter_pairwise(builder, team, how.in_order, from, into(team.me()));
      break;
    case Algorithm::kSegmentedRing:
      reduce_scatter_in_rounds(builder, team, from, into(team.me()), how.segment);
      break;
    default:
      reduce_scatter_ring(builder, team, from, into(team.me()));
  }
  allgather_ring(builder, team, into);
  return target;
}

}  // namespace ranktree::core::schedule
