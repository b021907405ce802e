// Calls while an operation is in flight on another communicator, which waits for ever where they drive nothing.
#pragma once

#include <mpi.h>
#include <ranktree/mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace around {

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::printf("%s\n", what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// An allreduce around a call on which ranks wait for each other: rank 0 makes it before it waits, the others
// afterwards.
template <typename Call>
void around(MPI_Comm comm, const Call& call) {
  std::vector<int> from(3000, rank_of(comm));
  std::vector<int> into(from.size(), -1);
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  ranktree_Iallreduce(from.data(), into.data(), static_cast<int>(from.size()), MPI_INT, MPI_SUM, comm, &request);
  const bool late = rank_of(comm) == 0;
  if (!late) require(ranktree_Wait(&request) == MPI_SUCCESS, "a wait");
  require(call() == MPI_SUCCESS, "the call between");
  if (late) require(ranktree_Wait(&request) == MPI_SUCCESS, "a wait");
  const int sum = size_of(comm) * (size_of(comm) - 1) / 2;
  require(std::all_of(into.begin(), into.end(), [&](int each) { return each == sum; }), "a sum");
}

}  // namespace around
