// exchange() for simulated ranks. SMPI 3.32's MPI_Test never sees some synchronous sends complete (8 ranks that each
// MPI_Issend to all others and receive what MPI_Iprobe shows are enough), so that src/mpi/exchange.cpp, which waits for
// that, cannot end. Here each rank learns from the memory that all share how many messages will come; the messages
// themselves, and so what a rank holds, are as there.
#include "mpi/exchange.h"

#include <mpi.h>

#include <cstddef>
#include <map>
#include <vector>

#include "mpi/check.h"

namespace ranktree::mpi {
namespace {

// By rank: how many messages are on their way. Set back by the rank itself, before it takes part in the allreduce that
// precedes the next exchange.
int expected[std::size_t{1} << 20U];

}  // namespace

std::map<int, Bytes> exchange_alone(MPI_Comm comm, const std::map<int, Bytes>& messages) {
  int own = 0;
  check(MPI_Comm_rank(comm, &own), "MPI_Comm_rank");
  std::vector<MPI_Request> requests;
  requests.reserve(messages.size());
  for (const auto& [rank, bytes] : messages) {
    ++expected[static_cast<std::size_t>(rank)];
    requests.push_back(MPI_REQUEST_NULL);
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, 1, comm, &requests.back()),
          "MPI_Isend");
  }
  check(MPI_Barrier(comm), "MPI_Barrier");
  std::map<int, Bytes> received;
  for (int& left = expected[static_cast<std::size_t>(own)]; left > 0; --left) {
    MPI_Status status;
    int length = 0;
    check(MPI_Probe(MPI_ANY_SOURCE, 1, comm, &status), "MPI_Probe");
    check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
    Bytes& bytes = received[status.MPI_SOURCE];
    bytes.resize(static_cast<std::size_t>(length));
    check(MPI_Recv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, 1, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  return received;
}

}  // namespace ranktree::mpi
