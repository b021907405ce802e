// Hierarchical forms in which whole vectors move on every level: by the leaders of groups, and hier-reduce-2016's
// allreduce among equal indices.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/stages.h"
#include "core/schedule/team.h"
#include "core/schedule/trees.h"

namespace ranktree::core::schedule {
namespace {

// A stage in which leaders pass `held` up one level. The root's partial results, or all of an allreduce's, are placed
// where the result will be.
Stage up(const Levels& levels, int level, Handed<Range>& held, bool in_output) {
  return [&levels, &held, level, in_output](const Segment& segment) {
    const View& view = levels.view;
    if (!view.leads(level)) return;
    if (level == levels.last()) held[segment] = segment.of(levels.operand());
    const bool leads_on = view.lane(level) == 0 && view.children(level) > 1;
    Range target = held[segment];
    if (leads_on) target = in_output ? segment.of(levels.output()) : levels.builder.scratch(segment.count);
    const Algorithm algorithm =
        levels.request.collective == Collective::kReduce ? levels.algorithm(level) : levels.tree(level);
    held[segment] = reduce(levels.builder, view.team(level), {algorithm, view.first(level), levels.in_order()},
                           held[segment], target);
  };
}

Stage down(const Levels& levels, int level, Algorithm algorithm) {
  return [&levels, level, algorithm](const Segment& segment) {
    if (!levels.view.leads(level)) return;
    broadcast(levels.builder, levels.lanes(level), algorithm, segment.of(levels.output()));
  };
}

// In every group, members beyond the width of the level get the result from the lane of their number modulo the width.
void serve_others(const Levels& levels, int level, const Range& result) {
  const Team team = levels.lanes(level);
  const Rank width = levels.hierarchy.width(level);
  if (team.me() >= width) {
    levels.builder.receive(team.rank(team.me() % width), result);
    return;
  }
  for (Rank member = team.me() + width; member < team.size(); member += width) {
    levels.builder.send(team.rank(member), result);
  }
}

}  // namespace

int arenas_of(const Hierarchy& hierarchy) { return arenas_for(static_cast<std::size_t>(2 * hierarchy.levels() - 1)); }

void broadcast_by_leaders(const Levels& levels) {
  std::vector<Stage> stages;
  for (int level = 0; level <= levels.last(); ++level) stages.push_back(down(levels, level, levels.algorithm(level)));
  run_stages(levels, stages);
}

void reduce_by_leaders(const Levels& levels) {
  Handed<Range> held(static_cast<std::size_t>(levels.last()) + 1);
  std::vector<Stage> stages;
  for (int level = levels.last(); level >= 0; --level) stages.push_back(up(levels, level, held, levels.root()));
  run_stages(levels, stages);
}

void allreduce_by_leaders(const Levels& levels) {
  Handed<Range> held(static_cast<std::size_t>(2 * levels.last() + 1));
  std::vector<Stage> stages;
  for (int level = levels.last(); level >= 1; --level) stages.push_back(up(levels, level, held, true));
  stages.emplace_back([&](const Segment& segment) {
    if (!levels.view.leads(0)) return;
    const Range target = segment.of(levels.output());
    const Team team = levels.view.team(0);
    if (const Algorithm algorithm = levels.named(0); is_tree(algorithm)) {
      reduce(levels.builder, team, {algorithm, 0, levels.in_order()}, held[segment], target);
      broadcast(levels.builder, team, algorithm, target);
    } else {
      allreduce(levels.builder, team, {levels.algorithm(0), levels.in_order(), 0}, held[segment], target);
    }
  });
  for (int level = 1; level <= levels.last(); ++level) stages.push_back(down(levels, level, levels.tree(level)));
  run_stages(levels, stages);
}

void allreduce_same_index(const Levels& levels) {
  Handed<Range> held(static_cast<std::size_t>(2 * levels.last() + 1));
  std::vector<Stage> stages;
  for (int level = levels.last(); level >= 0; --level) {
    stages.emplace_back([&levels, &held, level](const Segment& segment) {
      if (!levels.view.carries(level)) return;
      if (level == levels.last()) held[segment] = segment.of(levels.operand());
      held[segment] =
          allreduce(levels.builder, levels.view.team(level), {levels.algorithm(level), levels.in_order(), 0},
                    held[segment], segment.of(levels.output()));
    });
  }
  for (int level = 1; level <= levels.last(); ++level) {
    stages.emplace_back([&levels, level](const Segment& segment) {
      if (levels.view.carries(level)) serve_others(levels, level, segment.of(levels.output()));
    });
  }
  run_stages(levels, stages);
}

void barrier_by_leaders(const Levels& levels) {
  std::vector<std::int32_t> waits;
  for (int level = levels.last(); level >= 1; --level) {
    if (levels.view.leads(level)) arrive(levels.builder, levels.lanes(level), levels.tree(level), waits);
  }
  if (levels.view.leads(0)) barrier(levels.builder, levels.lanes(0), levels.algorithm(0), waits);
  for (int level = 1; level <= levels.last(); ++level) {
    if (levels.view.leads(level)) release(levels.builder, levels.lanes(level), levels.tree(level), waits);
  }
}

}  // namespace ranktree::core::schedule
