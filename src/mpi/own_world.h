// The caller's MPI_COMM_WORLD, and communicators with processes of others, which MPI_Comm_spawn and MPI_Comm_connect
// bring: those may have other settings, or none of the preloaded libraries.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace ranktree::mpi {

// MPI_COMM_WORLD and MPI_COMM_SELF may be used; a program of sessions has neither.
inline bool world_exists() noexcept {
  int begun = 0;
  int ended = 0;
  return PMPI_Initialized(&begun) == MPI_SUCCESS && PMPI_Finalized(&ended) == MPI_SUCCESS && begun != 0 && ended == 0;
}

namespace detail {

// By translating ranks: MPICH 5 ends the process where a set operation gets groups of two sessions.
inline bool is_within(MPI_Group own, MPI_Group world) noexcept {
  std::array<int, 512> ranks{};
  std::array<int, 512> in_world{};
  int size = 0;
  if (PMPI_Group_size(own, &size) != MPI_SUCCESS) return false;
  for (int first = 0; first < size; first += static_cast<int>(ranks.size())) {
    const int count = std::min(size - first, static_cast<int>(ranks.size()));
    std::iota(ranks.begin(), ranks.begin() + count, first);
    if (PMPI_Group_translate_ranks(own, count, ranks.data(), world, in_world.data()) != MPI_SUCCESS) return false;
    if (std::count(in_world.begin(), in_world.begin() + count, MPI_UNDEFINED) > 0) return false;
  }
  return true;
}

}  // namespace detail

// Whether all processes of an intracommunicator are in the caller's MPI_COMM_WORLD. Local; the same on all ranks that
// have one. False where there is none, and where the MPI refuses to answer.
inline bool is_within_own_world(MPI_Comm comm) noexcept {
  if (!world_exists()) return false;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group own = MPI_GROUP_NULL;
  const bool within = PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
                      PMPI_Comm_group(comm, &own) == MPI_SUCCESS && detail::is_within(own, world);
  for (MPI_Group* group : {&own, &world}) {
    if (*group != MPI_GROUP_NULL && *group != MPI_GROUP_EMPTY) PMPI_Group_free(group);
  }
  return within;
}

}  // namespace ranktree::mpi
