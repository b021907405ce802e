// Messages of unknown number between ranks that do not know who will write to them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <vector>

namespace ranktree::mpi {

using Bytes = std::vector<std::byte>;

// Collective over `comm`, a communicator with no messages but of calls of this function: hands every message to the
// rank it is for (a rank may write to itself), returns those for the calling rank by sender. O(messages) memory and
// time a rank: lengths are announced first, and the end of that is found by a nonblocking barrier that a rank enters
// when its own announcements have arrived (T. Hoefler, C. Siebert, A. Lumsdaine: Scalable Communication Protocols for
// Dynamic Sparse Data Exchange, PPoPP 2010). Consecutive calls do not mix. Throws AgreedError, before any message has
// been sent: MPI_ERR_UNSUPPORTED_OPERATION for messages above INT_MAX bytes, MPI_ERR_NO_MEM where those for some rank,
// or the little that announcing takes, do not fit into its memory. Throws MpiError.
std::map<int, Bytes> exchange_alone(MPI_Comm comm, const std::map<int, Bytes>& messages);

}  // namespace ranktree::mpi
