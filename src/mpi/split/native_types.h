// Which of MPI's split types are ours, by their numbers.
#pragma once

#include <mpi.h>

#include <optional>

#include "ranktree/mpi.h"

namespace ranktree::mpi {

// The types' numbers belong to the binary interface: a library serves programs and MPIs that are newer than its mpi.h.
// In MPICH before 4.0 and 4.1 the same numbers were its own types.
#ifdef OPEN_MPI
inline constexpr int kUnguided = 12;
inline constexpr int kGuided = 13;
#elif defined(MPICH)
inline constexpr int kUnguided = 3;
inline constexpr int kGuided = 2;
#elif defined(SMPI_H)
inline constexpr int kUnguided = RANKTREE_COMM_TYPE_HW_UNGUIDED;
inline constexpr int kGuided = RANKTREE_COMM_TYPE_HW_GUIDED;
#else
inline constexpr int kUnguided = MPI_COMM_TYPE_HW_UNGUIDED;
inline constexpr int kGuided = MPI_COMM_TYPE_HW_GUIDED;
#endif
#ifdef RANKTREE_HAS_MPI_COMM_TYPE_HW_UNGUIDED
static_assert(kUnguided == MPI_COMM_TYPE_HW_UNGUIDED);
#endif
#ifdef RANKTREE_HAS_MPI_COMM_TYPE_HW_GUIDED
static_assert(kGuided == MPI_COMM_TYPE_HW_GUIDED);
#endif
#ifdef RANKTREE_HAS_MPI_COMM_TYPE_RESOURCE_GUIDED
inline constexpr std::optional<int> kResourceGuided = int{MPI_COMM_TYPE_RESOURCE_GUIDED};
#elif defined(MPICH)
inline constexpr std::optional<int> kResourceGuided = 4;
#else
inline constexpr std::optional<int> kResourceGuided;
#endif

// The standard that the running MPI follows, 40 for MPI 4.0; Open MPI's newer types have numbers that were free before.
inline int standard_followed() noexcept {
#ifdef OPEN_MPI
  return 41;
#else
  int version = 0;
  int subversion = 0;
  PMPI_Get_version(&version, &subversion);
  return version * 10 + subversion;
#endif
}

// Our number of a split type that is ours to answer.
inline std::optional<int> our_type(int type) noexcept {
  if (type >= RANKTREE_COMM_TYPE_SHARED && type <= RANKTREE_COMM_TYPE_RESOURCE_GUIDED) return type;
  const int standard = standard_followed();
  if (standard >= 40 && type == kUnguided) return int{RANKTREE_COMM_TYPE_HW_UNGUIDED};
  if (standard >= 40 && type == kGuided) return int{RANKTREE_COMM_TYPE_HW_GUIDED};
  if (standard >= 41 && kResourceGuided == type) return int{RANKTREE_COMM_TYPE_RESOURCE_GUIDED};
  return {};
}

}  // namespace ranktree::mpi
