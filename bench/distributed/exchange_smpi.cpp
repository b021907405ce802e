// Mailbox for simulated ranks. SMPI 3.32's MPI_Test never sees some synchronous sends complete (8 ranks that each
// MPI_Issend to all others and receive what MPI_Iprobe shows are enough), so src/mpi/exchange.cpp, which waits for
// them, would never return. Here each rank reads from shared memory how many messages will come. The messages, and so
// the memory of a rank, are the same as there.
#include "mpi/exchange.h"

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mpi/check.h"

namespace ranktree::mpi {
namespace {

// By round and rank: the number of messages in flight to it. No rank is two exchanges ahead of another.
int expected[2][std::size_t{1} << 20U];

}  // namespace

void Mailbox::reserve(const Messages& messages) { requests_.reserve(messages.size()); }

int Mailbox::exchange(int word, const Messages& messages, Messages& received) {
  int own = 0;
  if (alone_.get() == MPI_COMM_NULL) check(MPI_Comm_split(all_, 0, 0, alone_.receive()), "MPI_Comm_split");
  MPI_Comm comm = alone_.get();
  check(MPI_Comm_rank(comm, &own), "MPI_Comm_rank");
  for (const auto& [rank, bytes] : messages) {
    ++expected[round_][static_cast<std::size_t>(rank)];
    requests_.push_back(MPI_REQUEST_NULL);
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag(), comm, &requests_.back()),
          "MPI_Isend");
  }
  int merged = 0;
  check(MPI_Allreduce(&word, &merged, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  received.clear();
  for (int& left = expected[round_][static_cast<std::size_t>(own)]; left > 0; --left) {
    MPI_Status status;
    int length = 0;
    check(MPI_Probe(MPI_ANY_SOURCE, tag(), comm, &status), "MPI_Probe");
    check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
    Bytes& bytes = received[status.MPI_SOURCE];
    bytes.resize(static_cast<std::size_t>(length));
    check(MPI_Recv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, tag(), comm, MPI_STATUS_IGNORE), "MPI_Recv");
  }
  check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  requests_.clear();
  round_ = 1 - round_;
  return merged;
}

}  // namespace ranktree::mpi
