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

// Blocks for one destination, in the order of the positions that they come from.
using Pieces = std::vector<Range>;

// One range with all pieces: where they are, if they follow each other there, else a copy.
Range joined(Builder& builder, const Pieces& pieces);

// Who has which blocks on the way. Ranks are told by their positions in the hierarchy.
class Carriers {
 public:
  // Leaders carry everything of their groups; else everyone carries for those who are in the same lane of each level,
  // modulo the group's children where groups differ in size.
  Carriers(const Hierarchy& hierarchy, bool leaders);

  // Which position below a child of a level has that child's blocks for destination `to`. The destination itself, where
  // all carry and it is below the child. O(levels).
  [[nodiscard]] std::int32_t position(int level, std::int32_t child, std::int32_t to) const;
  // To which child of a group, counted from its first, blocks for `to` go: its own where it is in the group.
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

// Among the children of this rank's group of a level. `held` has, by destination, what this rank carries for its child,
// and afterwards what it carries for the group. kFlat: a message to each carrier in each other child, holding blocks of
// all ranks of the child. kBruck: those travel by the bits of the distance between children, in log2 rounds. Groups may
// differ in size: then a carrier sends to several in a larger one. With `to_output`, what this rank receives for itself
// goes straight into the output where it can. O(ranks + what is carried).
void exchange_bundles(const Levels& levels, const Carriers& carriers, int level, bool to_output,
                      std::vector<Pieces>& held);

// Copies one block from every rank, in the order of positions, to its place by rank in `into`.
void deliver(const Levels& levels, const Pieces& pieces, const Range& into);

}  // namespace ranktree::core::schedule
