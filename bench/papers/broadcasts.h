// Broadcasts of Open MPI that SMPI lacks or fails in, for the programs of this folder.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace papers {

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// From rank 0. The ranks after the root are cut into `count` runs whose lengths differ by one at most.
inline void broadcast_by_chains(void* data, int bytes, int count, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int others = size_of(comm) - 1;
  const int chains = count < others ? count : others;
  const auto head = [&](int chain) { return 1 + chain * (others / chains) + std::min(chain, others % chains); };
  if (rank == 0) {
    std::vector<MPI_Request> sends(static_cast<std::size_t>(chains));
    for (int chain = 0; chain < chains; ++chain) {
      MPI_Isend(data, bytes, MPI_BYTE, head(chain), 1, comm, &sends[static_cast<std::size_t>(chain)]);
    }
    MPI_Waitall(chains, sends.data(), MPI_STATUSES_IGNORE);
    return;
  }
  int chain = 0;
  while (chain + 1 < chains && head(chain + 1) <= rank) ++chain;
  MPI_Recv(data, bytes, MPI_BYTE, rank == head(chain) ? 0 : rank - 1, 1, comm, MPI_STATUS_IGNORE);
  const int end = chain + 1 < chains ? head(chain + 1) : others + 1;
  if (rank + 1 < end) MPI_Send(data, bytes, MPI_BYTE, rank + 1, 1, comm);
}

// From rank 0, whose children are ranks 1 and 2, as Open MPI's binary: in segments, the next of which a rank receives
// while it passes one on. Sends to both children leave at once.
inline void broadcast_by_binary_tree(void* data, int bytes, int segment, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  std::vector<MPI_Request> sends;
  for (int first = 0; first < bytes; first += segment) {
    char* const part = static_cast<char*>(data) + first;
    const int length = std::min(segment, bytes - first);
    if (rank > 0) MPI_Recv(part, length, MPI_BYTE, (rank - 1) / 2, 2, comm, MPI_STATUS_IGNORE);
    for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < size; ++child) {
      MPI_Isend(part, length, MPI_BYTE, child, 2, comm, &sends.emplace_back());
    }
  }
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

// The longest time of a rank, on rank 0 and all others.
inline double longest(double seconds) {
  double most = 0;
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

}  // namespace papers
