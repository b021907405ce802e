// Ranks of communicators and windows as ranks of MPI_COMM_WORLD, worked out once for each.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "preload/thread.h"

namespace ranktree::preload {

// A group's members as world ranks. Rows, columns and MPI_COMM_WORLD itself are first + i * step: no table. O(1) bytes
// then, O(members) otherwise.
class WorldRanks {
 public:
  WorldRanks() = default;
  // Takes world ranks in group order; -1 is outside MPI_COMM_WORLD.
  explicit WorldRanks(const std::vector<int>& ranks);
  [[nodiscard]] int size() const noexcept { return size_; }
  // The world rank of 0 <= i < size().
  [[nodiscard]] int operator[](int i) const noexcept {
    return table_ ? table_[static_cast<std::size_t>(i)] : first_ + i * step_;
  }
  [[nodiscard]] std::vector<int> list() const;

 private:
  int size_ = 0;
  int first_ = 0;
  int step_ = 1;
  std::unique_ptr<int[]> table_;
};

struct Communicator {
  WorldRanks local;
  WorldRanks remote;  // of an intercommunicator
  bool inter = false;
  int rank = 0;                         // own rank in the local group
  std::uint64_t identity = 0;           // of (local, remote)
  std::uint64_t mirrored_identity = 0;  // of (remote, local): how the other side calls it
  bool logged = false;                  // its members are in a part
  bool neighbors_known = false;
  std::vector<int> neighbors;  // destinations of the topology in the order of the send buffer, -1: MPI_PROC_NULL

  // Whom a rank argument means.
  [[nodiscard]] const WorldRanks& peers() const noexcept { return inter ? remote : local; }
};

// From the cache, the communicator's attribute, or made now. nullptr when that is not possible (MPI_COMM_NULL, no
// memory).
Communicator* find_communicator(Thread& thread, MPI_Comm comm);

// The destinations of its topology; fills `neighbors` at the first call.
const std::vector<int>& find_neighbors(Communicator& communicator, MPI_Comm comm);

// Sees to it that the members of the communicator are written down once, by its rank 0.
void log_members(Thread& thread, Communicator& communicator);

// The ranks of a window's group. nullptr when it has none.
const WorldRanks* find_window(MPI_Win win);

// True size of a datatype in bytes.
std::uint64_t type_bytes(Thread& thread, MPI_Datatype type);

}  // namespace ranktree::preload
