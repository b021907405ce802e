// The pairs of ranks that measure each level of the machine.
#pragma once

#include <string>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"
#include "mpi/collect/context.h"

namespace ranktree::mpi::calibrate {

// Two ranks whose lowest common ancestor is on the level.
struct Pair {
  core::schedule::Rank first = -1;
  core::schedule::Rank second = -1;
};

struct MeasuredLevel {
  std::string name;         // as core::predict::LevelParameters has it
  bool crosses = false;     // nodes
  std::vector<Pair> pairs;  // none where no two ranks have this level in common
};

// The levels that the hierarchy was given, outermost first; of a launch on one node those inside only, of one with a
// rank a node those outside only. At most `most` pairs each, of different groups where there are several.
std::vector<MeasuredLevel> levels_of(const collect::Context& context, int most);

}  // namespace ranktree::mpi::calibrate
