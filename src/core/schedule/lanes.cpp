// Hierarchical forms in which every rank carries a slice between groups. On level l a rank works on the part of the
// vector that its lanes below have left it; on the last level that is the whole vector. A lane beyond the width of its
// level passes its operand to another and receives the result, but carries nothing.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/bundles.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/stages.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {
namespace {

// The slice that a carrying rank works on at `level`.
Range slice_on(const Levels& levels, int level, const Range& whole) {
  Range slice = whole;
  for (int below = levels.last(); below > level; --below) {
    slice = part_of(slice, levels.view.lane(below), levels.hierarchy.width(below));
  }
  return slice;
}

// The slices of a level by lane.
Blocks slices_on(const Levels& levels, int level, const Range& whole) {
  return slices(slice_on(levels, level, whole), levels.hierarchy.width(level), levels.view.children(level));
}

// The same slices in the hierarchy's order, for operations that keep rank order.
Blocks slices_in_order(const Levels& levels, int level, const Range& whole) {
  return slices(slice_on(levels, level, whole), levels.hierarchy.width(level), levels.view.children(level),
                levels.view.first(level));
}

// Inside groups, from `operand` to this rank's slice of `work`.
void reduce_scatter_on(const Levels& levels, int level, const Range& operand, const Range& work) {
  const Team team = levels.view.team(level);
  const Blocks from = slices_in_order(levels, level, operand);
  const Range target = slices_in_order(levels, level, work)(team.me());
  if (levels.in_order() || levels.algorithm(level) == Algorithm::kPairwise) {
    reduce_scatter_pairwise(levels.builder, team, levels.in_order(), from, target);
  } else {
    reduce_scatter_ring(levels.builder, team, from, target);
  }
}

bool in_roots_group(const Levels& levels, int level) {
  for (int above = 0; above < level; ++above) {
    if (levels.view.lane(above) != 0) return false;
  }
  return true;
}

Stage inward(const Levels& levels, int level, Handed<Range>& work) {
  return [&levels, &work, level](const Segment& segment) {
    if (!levels.view.carries(level)) return;
    const bool first = level == levels.last();
    reduce_scatter_on(levels, level, first ? segment.of(levels.operand()) : work[segment], work[segment]);
  };
}

Stage outward(const Levels& levels, int level) {
  return [&levels, level](const Segment& segment) {
    if (!levels.view.carries(level)) return;
    allgather_ring(levels.builder, levels.lanes(level), slices_on(levels, level, segment.of(levels.output())));
  };
}

}  // namespace

void broadcast_in_lanes(const Levels& levels) {
  std::vector<Stage> stages;
  for (int level = levels.last(); level >= 1; --level) {
    stages.emplace_back([&levels, level](const Segment& segment) {
      if (!levels.view.carries(level) || !in_roots_group(levels, level)) return;
      scatter_blocks(levels.builder, levels.lanes(level), slices_on(levels, level, segment.of(levels.output())));
    });
  }
  stages.emplace_back([&levels](const Segment& segment) {
    if (!levels.view.carries(0)) return;
    broadcast(levels.builder, levels.lanes(0), levels.algorithm(0), slice_on(levels, 0, segment.of(levels.output())));
  });
  for (int level = 1; level <= levels.last(); ++level) stages.push_back(outward(levels, level));
  run_stages(levels, stages);
}

void reduce_in_lanes(const Levels& levels) {
  Handed<Range> work(static_cast<std::size_t>(2 * levels.last() + 1));
  std::vector<Stage> stages;
  stages.emplace_back([&](const Segment& segment) {
    work[segment] = levels.root() ? segment.of(levels.output()) : levels.builder.scratch(segment.count);
    inward(levels, levels.last(), work)(segment);
  });
  for (int level = levels.last() - 1; level >= 1; --level) stages.push_back(inward(levels, level, work));
  stages.emplace_back([&](const Segment& segment) {
    if (!levels.view.carries(0)) return;
    const Range slice = slice_on(levels, 0, work[segment]);
    reduce(levels.builder, levels.view.team(0), {levels.algorithm(0), levels.view.first(0), levels.in_order()}, slice,
           slice);
  });
  for (int level = 1; level <= levels.last(); ++level) {
    stages.emplace_back([&levels, &work, level](const Segment& segment) {
      if (!levels.view.carries(level) || !in_roots_group(levels, level)) return;
      const Blocks blocks = slices_on(levels, level, work[segment]);
      gather(levels.builder, levels.lanes(level), 0, Algorithm::kBinomial, blocks(levels.view.lane(level)), blocks);
    });
  }
  run_stages(levels, stages);
}

void allreduce_in_lanes(const Levels& levels) {
  Handed<Range> work(static_cast<std::size_t>(2 * levels.last() + 1));
  std::vector<Stage> stages;
  stages.emplace_back([&](const Segment& segment) {
    work[segment] = segment.of(levels.output());
    inward(levels, levels.last(), work)(segment);
  });
  for (int level = levels.last() - 1; level >= 1; --level) stages.push_back(inward(levels, level, work));
  stages.emplace_back([&](const Segment& segment) {
    if (!levels.view.carries(0)) return;
    const Range slice = slice_on(levels, 0, work[segment]);
    allreduce(levels.builder, levels.view.team(0), {levels.algorithm(0), levels.in_order(), 0}, slice, slice);
  });
  for (int level = 1; level <= levels.last(); ++level) stages.push_back(outward(levels, level));
  run_stages(levels, stages);
}

// From the innermost level outwards, blocks go to the rank that is in the destination's lane on that level, so they
// have arrived after the outermost. Each message holds blocks of all ranks below the sender's child.
void alltoall_in_lanes(const Levels& levels) {
  const std::int64_t size = levels.request.count;
  if (size == 0) return;
  const Hierarchy& hierarchy = levels.hierarchy;
  const Range output{Buffer::kOutput, 0, size * hierarchy.ranks()};
  const bool in_place = levels.request.in_place;  // arriving blocks would overwrite blocks not yet sent
  const Range given = in_place ? levels.builder.scratch(output.count) : Range{Buffer::kInput, 0, output.count};
  if (in_place) levels.builder.copy(output, given);
  std::vector<Pieces> held;
  held.reserve(static_cast<std::size_t>(hierarchy.ranks()));
  for (std::int32_t to = 0; to < hierarchy.ranks(); ++to) {
    held.push_back({within(given, hierarchy.rank_at(to) * size, size)});
  }
  const Carriers carriers(hierarchy, false);
  for (int level = levels.last(); level >= 0; --level) exchange_bundles(levels, carriers, level, true, held);
  deliver(levels, held[static_cast<std::size_t>(hierarchy.position_of(levels.view.rank()))], output);
}

}  // namespace ranktree::core::schedule
