// Messages of unknown number between ranks that do not know who will write to them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <vector>

namespace ranktree::mpi {

using Bytes = std::vector<std::byte>;

// Collective over `comm`: hands every message to the rank it is for (a rank may write to itself), returns those for the
// calling rank by sender. O(messages) memory and time a rank; the end is found by a nonblocking barrier that a rank
// enters when its own messages have arrived (T. Hoefler, C. Siebert, A. Lumsdaine: Scalable Communication Protocols for
// Dynamic Sparse Data Exchange, PPoPP 2010). Consecutive calls do not mix. Messages above INT_MAX bytes are refused
// with core::Error(kUnsupported) before anything is sent. Throws MpiError.
std::map<int, Bytes> exchange(MPI_Comm comm, const std::map<int, Bytes>& messages);

}  // namespace ranktree::mpi
