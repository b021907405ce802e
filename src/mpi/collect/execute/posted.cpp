#include "mpi/collect/execute/posted.h"

#include <mpi.h>

#include <cstddef>

#include "mpi/collect/errors.h"
#include "mpi/collect/execute/workspace.h"

namespace ranktree::mpi::collect {
namespace {

int test_some(Workspace& work, int& ended) {
  return PMPI_Testsome(static_cast<int>(work.requests.size()), work.requests.data(), &ended, work.indices.data(),
                       work.statuses.data());
}

// For simulated ranks. Not MPI_Waitsome, in which SMPI tests all other requests, and takes simulated time for each
// test.
int wait_for_one(Workspace& work, int& ended) {
  int index = MPI_UNDEFINED;
  const int code =
      PMPI_Waitany(static_cast<int>(work.requests.size()), work.requests.data(), &index, work.statuses.data());
  ended = index == MPI_UNDEFINED ? 0 : 1;
  work.indices[0] = index;
  if (ended != 0) work.statuses[0].MPI_ERROR = code;
  return code;
}

// MPICH returns MPI_ERR_IN_STATUS, Open MPI the error of the first status that has one.
void note_errors(const Workspace& work, int code, int ended, FirstError& errors) {
  if (ended <= 0) check_own(code, "MPI_Testsome");
  for (int i = 0; i < ended; ++i) errors.note(work.statuses[static_cast<std::size_t>(i)].MPI_ERROR, "a message");
  if (code != MPI_ERR_IN_STATUS) errors.note(code, "a message");
}

}  // namespace

int take_ended(Workspace& work, bool waits, FirstError& errors) {
  const std::size_t active = work.requests.size();
  if (work.indices.size() < active) {
    work.indices.resize(active);
    work.statuses.resize(active);
  }
  int ended = 0;
  const int code = waits ? wait_for_one(work, ended) : test_some(work, ended);
  if (code != MPI_SUCCESS) note_errors(work, code, ended, errors);
  return ended;
}

void remove_ended(Workspace& work) {
  const std::size_t active = work.requests.size();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < active; ++i) {
    if (work.requests[i] == MPI_REQUEST_NULL) continue;
    work.requests[kept] = work.requests[i];
    work.owners[kept++] = work.owners[i];
  }
  work.requests.resize(kept);
  work.owners.resize(kept);
}

}  // namespace ranktree::mpi::collect
