// Broadcasts of Open MPI that SMPI lacks or fails in, for the programs of this folder.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
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

// As Open MPI's binary: ranks are numbered from the root on, whose children are 1 and 2. In segments, the next of which
// a rank receives while it passes one on. Sends to both children leave at once.
inline void broadcast_by_binary_tree(void* data, int bytes, int segment, int root, MPI_Comm comm) {
  const int size = size_of(comm);
  const int number = (rank_in(comm) - root + size) % size;
  const auto rank_of = [&](int other) { return (other + root) % size; };
  std::vector<MPI_Request> sends;
  for (int first = 0; first < bytes; first += segment) {
    char* const part = static_cast<char*>(data) + first;
    const int length = std::min(segment, bytes - first);
    if (number > 0) MPI_Recv(part, length, MPI_BYTE, rank_of((number - 1) / 2), 2, comm, MPI_STATUS_IGNORE);
    for (int child = 2 * number + 1; child <= 2 * number + 2 && child < size; ++child) {
      MPI_Isend(part, length, MPI_BYTE, rank_of(child), 2, comm, &sends.emplace_back());
    }
  }
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

// One block of a rank's data goes to each rank along a binomial tree; block i begins at first(i).
template <class First>
void scatter_blocks(char* data, const First& first, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  int bit = 1;
  while (bit < size && (rank & bit) == 0) bit *= 2;
  const auto bytes = [&](int begin, int blocks) { return first(std::min(begin + blocks, size)) - first(begin); };
  if (rank > 0) {
    MPI_Recv(data + first(rank), bytes(rank, bit), MPI_BYTE, rank - bit, 4, comm, MPI_STATUS_IGNORE);
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank + bit >= size) continue;
    MPI_Send(data + first(rank + bit), bytes(rank + bit, bit), MPI_BYTE, rank + bit, 4, comm);
  }
}

inline void sleep_for(double seconds) {
  timespec time{.tv_sec = static_cast<time_t>(seconds), .tv_nsec = 0};
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  nanosleep(&time, nullptr);
}

// Of the ranks of one communicator, who share a process: `simulate --share-globals`.
struct RingStart {
  double latest = 0;    // when the last of them came, simulated seconds
  double excluded = 0;  // until they went on together: no part of what is measured
};

// From rank 0, as MPICH's scatter-ring-allgather. Where the ring has more than `steps` steps (0: no limit), only these
// send messages; for the rest, which are the same exchange with both neighbours, a rank sleeps. Then all ranks begin
// the ring at one time, as if with the last of them, since the ring takes that rank's delay to all others.
inline void broadcast_by_scatter_ring(char* data, int bytes, int steps, MPI_Comm comm, RingStart& start) {
  constexpr double kApart = 10;  // seconds between the times at which rings may begin; a scatter takes much less
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const int block = (bytes + size - 1) / size;
  const auto first = [&](int index) { return std::min(index * block, bytes); };
  scatter_blocks(data, first, comm);
  const int sent = steps > 0 ? std::min(steps, size - 1) : size - 1;
  double begin = MPI_Wtime();
  if (sent < size - 1) {
    start.latest = std::max(start.latest, begin);
    const double together = (std::floor(begin / kApart) + 1) * kApart;
    sleep_for(together - begin);
    begin = together;
    start.excluded = together - start.latest;
  }
  for (int step = 0; step < sent; ++step) {
    const int out = (rank - step + size) % size;
    const int in = (out - 1 + size) % size;
    MPI_Sendrecv(data + first(out), first(out + 1) - first(out), MPI_BYTE, (rank + 1) % size, 5, data + first(in),
                 first(in + 1) - first(in), MPI_BYTE, (rank - 1 + size) % size, 5, comm, MPI_STATUS_IGNORE);
  }
  sleep_for((size - 1 - sent) * (MPI_Wtime() - begin) / std::max(sent, 1));
}

// The longest time of a rank, on rank 0: by messages of its own, so that any allreduce may be the one that is measured.
inline double longest(double seconds) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  for (int bit = 1; bit < size; bit *= 2) {
    if ((rank & bit) != 0) {
      MPI_Send(&seconds, 1, MPI_DOUBLE, rank - bit, 3, MPI_COMM_WORLD);
      break;
    }
    if (rank + bit >= size) continue;
    double other = 0;
    MPI_Recv(&other, 1, MPI_DOUBLE, rank + bit, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    seconds = std::max(seconds, other);
  }
  return seconds;
}

}  // namespace papers
