// The requests of one operation that are in flight, in its workspace: each has an owner, a number of the operation's.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "mpi/collect/errors.h"
#include "mpi/collect/execute/workspace.h"

namespace ranktree::mpi::collect {

// A place for one more.
inline MPI_Request* post_for(Workspace& work, std::int32_t owner) {
  work.owners.push_back(owner);
  work.requests.push_back(MPI_REQUEST_NULL);
  return &work.requests.back();
}

// How many have ended since: work.indices has their places. `waits`: for one of them (InFlightList::may_wait). Throws
// AgreedError.
int take_ended(Workspace& work, bool waits, FirstError& errors);

// Removes those that have ended.
void remove_ended(Workspace& work);

// Calls `ended` with the owner of each that has ended since. False where none has. Messages that fail count as ended.
// Throws AgreedError.
template <typename Ended>
bool test_posted(Workspace& work, bool waits, FirstError& errors, const Ended& ended) {
  const int count = take_ended(work, waits, errors);
  for (int i = 0; i < count; ++i) {
    ended(work.owners[static_cast<std::size_t>(work.indices[static_cast<std::size_t>(i)])]);
  }
  if (count > 0) remove_ended(work);
  return count > 0;
}

// After an error. `receives`: whether an owner's request is a receive, which is cancelled; the MPI completes sends.
template <typename Receives>
void abandon_posted(Workspace& work, const Receives& receives) noexcept {
  for (std::size_t i = 0; i < work.requests.size(); ++i) {
    MPI_Request& request = work.requests[i];
    if (request == MPI_REQUEST_NULL) continue;
    if (receives(work.owners[i])) PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }
}

}  // namespace ranktree::mpi::collect
