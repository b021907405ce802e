// Alltoall on one level of a hierarchy: blocks for one destination from all ranks below a child travel together.
#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

// The blocks for one destination, in the order of the positions they come from.
using Pieces = std::vector<Range>;

// All pieces as one range: the elements where they are if they are adjacent there, else a copy.
Range joined(Builder& builder, const Pieces& pieces);

// Which rank carries which blocks between levels. A rank is named by its position in the hierarchy.
class Carriers {
 public:
  // With `leaders`, the leader of a group carries all blocks of the group. Otherwise each rank carries the blocks for
  // the destinations in its own lane on each level, modulo the number of the group's children where groups differ in
  // size.
  Carriers(const Hierarchy& hierarchy, bool leaders);

  // The position below a child of a level that holds the child's blocks for destination `to`. Without leaders it is the
  // destination itself when that is below the child. O(levels).
  [[nodiscard]] std::int32_t position(int level, std::int32_t child, std::int32_t to) const;
  // The child of a group, counted from its first, that blocks for `to` go to: the group's own child when `to` is in the
  // group.
  [[nodiscard]] Rank towards(int level, std::int32_t group, std::int32_t to) const {
    return lane(level, to) % hierarchy_.children(level, group);
  }

 private:
  [[nodiscard]] Rank lane(int level, std::int32_t position) const {
    return lanes_[static_cast<std::size_t>(level)][static_cast<std::size_t>(position)];
  }

  const Hierarchy& hierarchy_;
  bool leaders_;
  std::vector<std::vector<Rank>> lanes_;  // of each level, by position
};

// Exchanges blocks among the children of this rank's group on one level. `held` lists, by destination, what this rank
// carries: for its child before the call, for the group after it. kFlat sends a message to each carrier in every other
// child, with the blocks of all ranks of the child. kBruck sends by the bits of the distance between children, in log2
// rounds. Groups may differ in size; a carrier then sends to several carriers in a larger group. With `to_output`,
// blocks for this rank go straight into the output where possible. O(ranks + blocks carried).
void exchange_bundles(const Levels& levels, const Carriers& carriers, int level, bool to_output,
                      std::vector<Pieces>& held);

// Copies one block from every rank, given in the order of positions, to its place in rank order in `into`.
void deliver(const Levels& levels, const Pieces& pieces, const Range& into);

}  // namespace ranktree::core::schedule
