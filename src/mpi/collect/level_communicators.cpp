#include "mpi/collect/level_communicators.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/under_way.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Hierarchy;
using core::schedule::Rank;

constexpr std::size_t kMostSets = 4;

// The child that a rank is in, on each level.
std::vector<std::int32_t> path_of(const Hierarchy& hierarchy, Rank rank) {
  std::vector<std::int32_t> path(static_cast<std::size_t>(hierarchy.levels()));
  std::int32_t child = hierarchy.position_of(rank);
  for (int level = hierarchy.levels() - 1; level >= 0; --level) {
    path[static_cast<std::size_t>(level)] = child;
    child = hierarchy.group_of(level, child);
  }
  return path;
}

Rank lowest_of(const Hierarchy& hierarchy, int level, std::int32_t child) {
  return hierarchy.rank_at(hierarchy.first_position(level, child));
}

void make(LevelSet& set, MPI_Comm comm, const Hierarchy& hierarchy) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::vector<std::int32_t> own = path_of(hierarchy, rank);
  const std::vector<std::int32_t> roots = path_of(hierarchy, set.root);
  set.comms.resize(own.size());
  for (int level = 0; level < hierarchy.levels(); ++level) {
    const auto at = static_cast<std::size_t>(level);
    const std::int32_t group = hierarchy.group_of(level, own[at]);
    const Rank leader = own[at] == roots[at] ? set.root : lowest_of(hierarchy, level, own[at]);
    const bool with_root = hierarchy.group_of(level, roots[at]) == group;
    set.leaders.push_back(with_root ? roots[at] - hierarchy.first_child(level, group) : 0);
    check(PMPI_Comm_split(comm, leader == rank ? group : MPI_UNDEFINED, own[at], set.comms[at].receive()),
          "MPI_Comm_split");
    if (set.comms[at].get() == MPI_COMM_NULL) continue;
    check(PMPI_Comm_set_errhandler(set.comms[at].get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
}

}  // namespace

const LevelSet& LevelCommunicators::get(MPI_Comm comm, const Hierarchy& hierarchy, Rank groups, Rank root) {
  const std::int32_t child = path_of(hierarchy, root).front();
  if (lowest_of(hierarchy, 0, child) == root) root = hierarchy.rank_at(0);
  const auto known = std::find_if(sets_.begin(), sets_.end(),
                                  [&](const LevelSet& set) { return set.groups == groups && set.root == root; });
  if (known != sets_.end()) {
    sets_.splice(sets_.begin(), sets_, known);
    if (known->made) known->leaders.front() = child;
    return sets_.front();
  }
  meet(comm);
  attempt_together(comm, [&] { sets_.emplace_front(); });
  LevelSet& set = sets_.front();
  set.groups = groups;
  set.root = root;
  const Failure failure = share(comm, attempt([&] { make(set, comm, hierarchy); }));
  set.made = failure.error_class == MPI_SUCCESS;
  if (set.made) {
    set.leaders.front() = child;
  } else {
    set.comms.clear();
  }
  if (sets_.size() > kMostSets) sets_.pop_back();
  return set;
}

}  // namespace ranktree::mpi::collect
