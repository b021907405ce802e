// The hierarchical transformation: from an algorithm for each level and a hierarchy of ranks to a schedule
// (hier-bcast-2014 §3, hier-reduce-2016 §3, hsplit-2018 §6 for more than two levels).
//
// Who takes part on a level: in the group of the root, the root and the groups it is in count as first; elsewhere the
// lowest rank comes first. A group's leader is its first rank, so the root leads its groups and no rank passes data on
// only because it leads.
//
// Segments are pipelined across levels: while segment s is moved on one level, segment s-1 is on the next.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

enum class Form : std::uint8_t {
  // Leaders only talk across groups: broadcast down the levels, reduce up, allreduce, barrier and alltoall up and down.
  kLeaders,
  // Allreduce of hier-reduce-2016 §3.2: in each group, then among the ranks with the same index in each group, on whole
  // vectors. Moves (ranks of a group) times the bytes of the other forms between groups.
  kSameIndex,
  // Every rank carries its slice between groups: reduce-scatter inside, the operation on slices across, allgather
  // inside. Alltoall: blocks go to the rank inside that is in their destination's lane, and then across.
  // The first w ranks of a group have slices, w the size of the smallest group, so that slices fit in unequal groups
  // (alltoall: every rank; lanes are counted modulo the size of a smaller group).
  kLanes
};

std::string_view form_name(Form form);  // "leaders", "same-index", "lanes"
std::optional<Form> form_from_name(std::string_view word);

struct Plan {
  Form form = Form::kLeaders;
  // One for each level that the hierarchy was given, outermost first, or one for all. In lanes, the algorithm of the
  // outermost level; inside, rings for commutative operations and pairwise exchange for others, unless kPairwise is
  // said. Alltoall in lanes has the algorithm of each level.
  std::vector<Algorithm> algorithms;
  std::int64_t segment = 0;  // elements, 0 for everything
};

// What is right for most: lanes for allreduce and alltoall, leaders for all else.
Form default_form(Collective collective);

// The forms a collective has.
std::span<const Form> forms_of(Collective collective);

// False when operands would be combined out of rank order.
bool keeps_rank_order(Collective collective, const Hierarchy& hierarchy, const Plan& plan);

// The steps of `rank`; on a hierarchy of one level exactly those of make() with the algorithm of that level. O(steps x
// log + levels). Throws as make() does.
Program transform(const Request& request, const Hierarchy& hierarchy, const Plan& plan, Rank rank);
Schedule transform_all(const Request& request, const Hierarchy& hierarchy, const Plan& plan);

}  // namespace ranktree::core::schedule
