// The hierarchical transformation: from an algorithm for each level and a hierarchy of ranks to a schedule
// (hier-bcast-2014 §3, hier-reduce-2016 §3, hsplit-2018 §6 for more than two levels).
//
// Which ranks take part on a level: in a group that contains the root, the root or the child that contains it counts as
// first; elsewhere the lowest rank comes first. The leader of a group is its first rank. So the root leads its groups,
// and no rank forwards data only because it is a leader.
//
// Segments are pipelined across levels: while segment s is moved on one level, segment s-1 is on the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/links.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

enum class Form : std::uint8_t {
  // Only leaders communicate across groups: broadcast goes down the levels, reduce up, and allreduce, barrier and
  // alltoall up and down.
  kLeaders,
  // Allreduce of hier-reduce-2016 §3.2: in each group, then among the ranks with the same index in each group, on whole
  // vectors. Moves (ranks of a group) times the bytes of the other forms between groups.
  kSameIndex,
  // Every rank carries a slice between groups: reduce-scatter inside, the operation on slices across, allgather inside.
  // Alltoall: blocks first go to the rank inside the group that is in their destination's lane, then across. The first
  // w ranks of a group have slices, where w is the size of the smallest group, so slices also match in unequal groups.
  // In alltoall every rank has a lane, counted modulo the size of a smaller group.
  kLanes
};

std::string_view form_name(Form form);  // "leaders", "same-index", "lanes"
std::optional<Form> form_from_name(std::string_view word);

// How an algorithm for each level makes one collective (MPICH: composition).
struct Composition {
  Form form = Form::kLeaders;
  // One algorithm for all levels; or one for each level, outermost first: of those that the hierarchy has, or of those
  // that it was given, some of which it may have left out. In lanes, the
  // algorithm is that of the outermost level; inside, commutative operations use rings and others pairwise exchange,
  // unless kPairwise is named. Alltoall in lanes uses the algorithm of each level.
  std::vector<Algorithm> algorithms;
  std::int64_t segment = 0;  // elements; 0: unsegmented

  // The algorithm of a level that the hierarchy has, counted from 0 for the outermost.
  [[nodiscard]] Algorithm algorithm_of(const Hierarchy& hierarchy, int level) const {
    if (algorithms.size() == 1) return algorithms[0];
    const bool of_given = algorithms.size() == static_cast<std::size_t>(hierarchy.given_levels());
    return algorithms[static_cast<std::size_t>(of_given ? hierarchy.given_level(level) : level)];
  }
  // Whether it has as many algorithms as the hierarchy takes.
  [[nodiscard]] bool fits(const Hierarchy& hierarchy) const {
    const auto count = static_cast<int>(algorithms.size());
    return count == 1 || count == hierarchy.levels() || count == hierarchy.given_levels();
  }
};

// The usual choice: lanes for allreduce and alltoall, leaders for all other collectives.
Form default_form(Collective collective);

// The forms that a collective has.
std::span<const Form> forms_of(Collective collective);

// False when operands would be combined out of rank order.
bool keeps_rank_order(Collective collective, const Hierarchy& hierarchy, const Composition& composition);

// The steps of `rank`. On a hierarchy of one level they are exactly those of make() with the algorithm of that level.
// O(steps x log + levels). `links` as in make(). Throws as make() does.
Program transform(const Request& request, const Hierarchy& hierarchy, const Composition& composition, Rank rank,
                  const Links* links = nullptr);
Schedule transform_all(const Request& request, const Hierarchy& hierarchy, const Composition& composition,
                       const Links* links = nullptr);

}  // namespace ranktree::core::schedule
