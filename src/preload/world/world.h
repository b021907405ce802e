// The world in its new order. Where RANKTREE_REORDER names a recorded pattern, MPI_Init computes a better order of the
// ranks on the machine as it is and makes a communicator in that order; from then on every call of the program with
// MPI_COMM_WORLD goes to it (docs/how-to/renumber-world.md).
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

namespace ranktree::preload {

// The communicator that stands for MPI_COMM_WORLD; value-initialised: none. Set once, in MPI_Init; freed in
// MPI_Finalize.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the wrappers have no other place for it
extern constinit std::atomic<MPI_Comm> new_world;

// What the program means by `comm`.
inline MPI_Comm in_world(MPI_Comm comm) noexcept {
  if (comm != MPI_COMM_WORLD) return comm;
  const MPI_Comm world = new_world.load(std::memory_order_relaxed);
  return world == MPI_Comm{} ? comm : world;
}

// Called when MPI has been initialised, on every rank.
void reorder_world() noexcept;

enum class Topology : std::uint8_t { kGrid, kGraph };

// Whether the program's grid or graph on `comm`, an own name of the world or another communicator, is ours to make;
// `permitted` if the program lets the MPI reorder it. Collective over `comm`.
bool makes(Topology topology, MPI_Comm comm, bool permitted) noexcept;

// `group` is what the MPI gave for the process set "mpi://WORLD": puts it into the new order. Where there is a pattern
// and no order yet, collective over the processes of the group.
void reorder_world_group(MPI_Group* group) noexcept;

}  // namespace ranktree::preload
