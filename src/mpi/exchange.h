// Messages of unknown number between ranks that do not know who will write to them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <vector>

namespace ranktree::mpi {

using Bytes = std::vector<std::byte>;

// Collective over `comm`: hands every message to the rank it is for (a rank may write to itself), returns those for the
// calling rank by sender. O(messages) memory and time a rank: lengths are announced first, and the end of that is found
// by a nonblocking barrier that a rank enters when its own announcements have arrived (T. Hoefler, C. Siebert, A.
// Lumsdaine: Scalable Communication Protocols for Dynamic Sparse Data Exchange, PPoPP 2010). Consecutive calls do not
// mix. Messages above INT_MAX bytes are refused with core::Error(kUnsupported), messages that do not fit into a rank's
// memory with std::bad_alloc, before anything is sent and on all ranks alike. Throws MpiError.
std::map<int, Bytes> exchange(MPI_Comm comm, const std::map<int, Bytes>& messages);

// The same on a communicator with no messages but of calls of this function.
std::map<int, Bytes> exchange_alone(MPI_Comm comm, const std::map<int, Bytes>& messages);

}  // namespace ranktree::mpi
