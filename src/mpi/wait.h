// Waiting that lets others run: ranks may outnumber cores.
#pragma once

#include <mpi.h>

namespace ranktree::mpi {

// Collective over `comm`: a barrier for when some rank works for long. Ranks that wait sleep, a fraction of a
// millisecond at a time. Throws MpiError.
void wait_for_all(MPI_Comm comm);

}  // namespace ranktree::mpi
