// Hierarchical forms of collectives that move blocks: leaders hold the blocks of their groups, one after the other in
// the order of the hierarchy's positions.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/bundles.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/layout.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {
namespace {

// Adjacent blocks in a range of elements.
struct Region {
  Range range;
  std::int64_t base = 0;  // the range's first element among all blocks
};

class BlockLevels {
 public:
  explicit BlockLevels(const Levels& levels)
      : levels_(levels),
        packing_(levels.request, levels.hierarchy),
        by_rank_(levels.request, Hierarchy::flat(levels.request.ranks)) {}

  [[nodiscard]] const Packing& packing() const { return packing_; }

  // All blocks, in the caller's buffer when they are packed there in this order.
  [[nodiscard]] Region all(Buffer buffer) const {
    if (packing_.is_given()) return {.range = {buffer, 0, packing_.total()}, .base = 0};
    return {.range = levels_.builder.scratch(packing_.total()), .base = 0};
  }

  // Copies between the caller's buffer and the hierarchy's order; nothing where the two are the same.
  void copy_given(const Region& all, Buffer buffer, bool to_caller) const {
    if (packing_.is_given()) return;
    for (std::int32_t position = 0; position < levels_.request.ranks; ++position) {
      const Range packed = packing_.range(all.range, position, position + 1);
      const Range given = place(buffer, levels_.hierarchy.rank_at(position));
      levels_.builder.copy(to_caller ? packed : given, to_caller ? given : packed);
    }
  }

  // A rank's block in the caller's buffer of all blocks.
  [[nodiscard]] Range place(Buffer buffer, Rank rank) const {
    if (!levels_.request.displacements.empty()) return given_block(levels_.request, buffer, rank);
    return {buffer, by_rank_.first(rank), by_rank_.first(rank + 1) - by_rank_.first(rank)};
  }

  // The blocks of a member of this rank's team on a level: those of the whole group below it.
  [[nodiscard]] Blocks blocks(int level, const Region& region) const {
    return [this, level, region](Rank member) {
      const std::int32_t child = child_of(level, member);
      const std::int64_t begin = packing_.first(levels_.hierarchy.first_position(level, child));
      const std::int64_t end = packing_.first(levels_.hierarchy.first_position(level, child + 1));
      return within(region.range, begin - region.base, end - begin);
    };
  }

  // Space for the blocks of this rank's child of a level.
  [[nodiscard]] Region space(int level) const {
    const std::int32_t child = child_of(level, levels_.view.team(level).me());
    const std::int64_t begin = packing_.first(levels_.hierarchy.first_position(level, child));
    const std::int64_t end = packing_.first(levels_.hierarchy.first_position(level, child + 1));
    return {.range = levels_.builder.scratch(end - begin), .base = begin};
  }

  // Moves blocks from every rank to the leaders of level `top`. Their groups' blocks finish in `region`, which only
  // they need.
  void up(int top, Range own, const Region& region) const {
    for (int level = levels_.last(); level >= top && levels_.view.leads(level); --level) {
      const Blocks all = blocks(level, region);
      const Rank first = levels_.view.first(level);
      gather(levels_.builder, levels_.view.team(level), first, tree(level), own, all);
      const std::int32_t begin = child_of(level, 0);
      const std::int32_t end = child_of(level, levels_.view.children(level));
      const std::int64_t from = packing_.first(levels_.hierarchy.first_position(level, begin));
      const std::int64_t to = packing_.first(levels_.hierarchy.first_position(level, end));
      own = within(region.range, from - region.base, to - from);
    }
  }

  // Moves blocks from the leaders of level `top`, which have their groups' blocks in `region`, to every rank's `own`.
  void down(int top, Region region, const Range& own) const {
    for (int level = top; level <= levels_.last(); ++level) {
      if (!levels_.view.leads(level)) continue;
      const bool leads = levels_.view.lane(level) == 0;
      const bool last = level == levels_.last();
      if (!leads && !last) region = space(level);
      const Blocks all = blocks(level, region);
      const Range mine = last ? own : all(levels_.view.team(level).me());
      scatter(levels_.builder, levels_.view.team(level), levels_.view.first(level), tree(level), all, mine);
    }
  }

  // The highest level on which this rank is the first of its team, or the number of levels when there is none.
  [[nodiscard]] int led() const {
    int level = levels_.last() + 1;
    while (level > 0 && levels_.view.leads(level - 1) && levels_.view.lane(level - 1) == 0) --level;
    return level;
  }

  // Space for the group that this rank leads on its highest level.
  [[nodiscard]] Region led_space() const {
    const int level = led();
    if (level > levels_.last()) return {};
    return space(level - 1);
  }

 private:
  [[nodiscard]] Algorithm tree(int level) const {
    return levels_.algorithm(level) == Algorithm::kFlat ? Algorithm::kFlat : Algorithm::kBinomial;
  }
  [[nodiscard]] std::int32_t child_of(int level, Rank member) const {
    return levels_.hierarchy.first_child(level, levels_.view.group(level)) + member;
  }

  const Levels& levels_;
  Packing packing_;
  Packing by_rank_;  // the layout without displacements
};

void exchange_blocks(const Levels& levels, const Blocks& blocks) {
  const Team team = levels.view.team(0);
  switch (levels.algorithm(0)) {
    case Algorithm::kFlat:
      allgather_flat(levels.builder, team, blocks);
      return;
    case Algorithm::kRecursiveDoubling:
      allgather_doubling(levels.builder, team, blocks);
      return;
    default:
      allgather_ring(levels.builder, team, blocks);
  }
}

}  // namespace

void gather_by_leaders(const Levels& levels) {
  const BlockLevels blocks(levels);
  const Rank rank = levels.view.rank();
  const bool in_place = levels.root() && levels.request.in_place;
  const Range own =
      in_place ? blocks.place(Buffer::kOutput, rank) : Range{Buffer::kInput, 0, block_count(levels.request, rank)};
  const Region region = levels.root() ? blocks.all(Buffer::kOutput) : blocks.led_space();
  blocks.up(0, own, region);
  if (levels.root()) blocks.copy_given(region, Buffer::kOutput, true);
}

void scatter_by_leaders(const Levels& levels) {
  const BlockLevels blocks(levels);
  const Rank rank = levels.view.rank();
  Region region;
  Range own{Buffer::kOutput, 0, block_count(levels.request, rank)};
  if (levels.root()) {
    region = blocks.all(Buffer::kInput);
    blocks.copy_given(region, Buffer::kInput, false);
    const std::int32_t position = levels.hierarchy.position_of(rank);
    if (levels.request.in_place) own = blocks.packing().range(region.range, position, position + 1);
  }
  blocks.down(0, region, own);
}

void allgather_by_leaders(const Levels& levels) {
  const BlockLevels blocks(levels);
  const Rank rank = levels.view.rank();
  const Region region = blocks.all(Buffer::kOutput);
  const Range own = levels.request.in_place ? blocks.place(Buffer::kOutput, rank)
                                            : Range{Buffer::kInput, 0, block_count(levels.request, rank)};
  blocks.up(1, own, region);
  if (levels.view.leads(0)) exchange_blocks(levels, blocks.blocks(0, region));
  for (int level = 1; level <= levels.last(); ++level) {
    if (levels.view.leads(level)) broadcast(levels.builder, levels.lanes(level), levels.tree(level), region.range);
  }
  blocks.copy_given(region, Buffer::kOutput, true);
}

void reduce_scatter_by_leaders(const Levels& levels) {
  const BlockLevels blocks(levels);
  const View& view = levels.view;
  const Region operand = blocks.all(levels.operand().buffer);
  blocks.copy_given(operand, levels.operand().buffer, false);
  Range held = operand.range;
  for (int level = levels.last(); level >= 1 && view.leads(level); --level) {
    const Range target = view.lane(level) == 0 ? levels.builder.scratch(held.count) : held;
    held = reduce(levels.builder, view.team(level), {levels.tree(level), view.first(level), levels.in_order()}, held,
                  target);
  }
  Region region;
  if (view.leads(0)) {
    const Team team = view.team(0);
    const Blocks from = blocks.blocks(0, {.range = held, .base = 0});
    region = blocks.space(0);
    if (!levels.in_order() && levels.algorithm(0) == Algorithm::kRing) {
      reduce_scatter_ring(levels.builder, team, from, region.range);
    } else {
      reduce_scatter_pairwise(levels.builder, team, levels.in_order(), from, region.range);
    }
  }
  blocks.down(1, region, {Buffer::kOutput, 0, block_count(levels.request, view.rank())});
}

// All data of a group goes to its leader, leaders exchange what they hold for each other's groups, and all data for a
// group goes to its ranks. Two groups exchange one message in each direction, but a leader moves the bytes of all its
// ranks three times.
void alltoall_by_leaders(const Levels& levels) {
  const std::int64_t size = levels.request.count;
  if (size == 0) return;
  const Hierarchy& hierarchy = levels.hierarchy;
  const std::int64_t row = size * hierarchy.ranks();  // all blocks of one rank, or for one
  Request rows = levels.request;
  rows.collective = Collective::kGather;
  rows.count = row;
  check_request(rows, levels.view.rank(), true);
  const Levels whole{rows, hierarchy, levels.composition, levels.view, levels.builder};
  const BlockLevels blocks(whole);
  const bool leads = levels.view.leads(0);
  const Region given = leads ? blocks.space(0) : blocks.led_space();
  blocks.up(1, {levels.operand().buffer, 0, row}, given);
  Region taken;
  if (leads) {
    const std::int32_t child = hierarchy.first_child(0, 0) + levels.view.team(0).me();
    const std::int32_t begin = hierarchy.first_position(0, child);
    const std::int32_t end = hierarchy.first_position(0, child + 1);
    std::vector<Pieces> held(static_cast<std::size_t>(hierarchy.ranks()));
    for (std::int32_t to = 0; to < hierarchy.ranks(); ++to) {
      for (std::int32_t from = begin; from < end; ++from) {
        const std::int64_t first = (from - begin) * row + hierarchy.rank_at(to) * size;
        held[static_cast<std::size_t>(to)].push_back(within(given.range, first, size));
      }
    }
    exchange_bundles(levels, Carriers(hierarchy, true), 0, false, held);
    taken = blocks.space(0);
    for (std::int32_t to = begin; to < end; ++to) {
      deliver(levels, held[static_cast<std::size_t>(to)], within(taken.range, (to - begin) * row, row));
    }
  }
  blocks.down(1, taken, {Buffer::kOutput, 0, row});
}

}  // namespace ranktree::core::schedule
