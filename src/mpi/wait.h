// Waiting that lets others run: ranks may outnumber cores.
#pragma once

#include <mpi.h>

namespace ranktree::mpi {

// Completes a request for which some rank works for long. Ranks that wait sleep, a fraction of a millisecond at a time.
// Throws MpiError.
void wait_asleep(MPI_Request request);

// Collective over `comm`: a barrier of this kind. Throws MpiError.
void wait_for_all(MPI_Comm comm);

}  // namespace ranktree::mpi
