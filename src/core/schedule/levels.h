// What the forms of the hierarchical transformation share: one call on a hierarchy as one rank sees it.
#pragma once

#include <cstdint>

#include "core/schedule/builder.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"
#include "core/schedule/transform.h"
#include "core/schedule/trees.h"

namespace ranktree::core::schedule {

// `named` if the collective has this algorithm, else the collective's binomial tree, recursive doubling, or first one.
Algorithm fitting(Collective collective, Algorithm named);

struct Levels {
  const Request& request;
  const Hierarchy& hierarchy;
  const Composition& composition;
  const View& view;
  Builder& builder;

  [[nodiscard]] int last() const { return view.levels() - 1; }
  [[nodiscard]] bool in_order() const { return !request.commutative; }
  [[nodiscard]] bool root() const { return view.rank() == request.root; }
  [[nodiscard]] Range output() const { return {Buffer::kOutput, 0, request.count}; }
  [[nodiscard]] Range operand() const {
    return {request.in_place ? Buffer::kOutput : Buffer::kInput, 0, request.count};
  }

  [[nodiscard]] Algorithm named(int level) const { return composition.algorithm_of(hierarchy, level); }
  [[nodiscard]] Algorithm algorithm(int level) const { return fitting(request.collective, named(level)); }
  [[nodiscard]] Algorithm tree(int level) const { return is_tree(named(level)) ? named(level) : Algorithm::kBinomial; }
  // The team numbered by lanes: the member that counts as first is 0.
  [[nodiscard]] Team lanes(int level) const { return view.team(level).rotated(view.first(level)); }
};

// leaders.cpp
void broadcast_by_leaders(const Levels& levels);
void reduce_by_leaders(const Levels& levels);
void allreduce_by_leaders(const Levels& levels);
void allreduce_same_index(const Levels& levels);
void barrier_by_leaders(const Levels& levels);

// lanes.cpp
void broadcast_in_lanes(const Levels& levels);
void reduce_in_lanes(const Levels& levels);
void allreduce_in_lanes(const Levels& levels);
void alltoall_in_lanes(const Levels& levels);

// block_levels.cpp
void gather_by_leaders(const Levels& levels);
void scatter_by_leaders(const Levels& levels);
void allgather_by_leaders(const Levels& levels);
void reduce_scatter_by_leaders(const Levels& levels);
void alltoall_by_leaders(const Levels& levels);

// Scratch areas for the longest of these operations, which goes up and down all levels.
int arenas_of(const Hierarchy& hierarchy);

}  // namespace ranktree::core::schedule
