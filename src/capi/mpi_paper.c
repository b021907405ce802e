/* The names of hsplit-2018 §3 (ranktree/paper.h), once for each MPI. */
#include <mpi.h>

#include "ranktree/mpi.h"
#include "ranktree/paper.h"

int MPI_Comm_hsplit_with_roots(MPI_Comm oldcomm, MPI_Info info, MPI_Comm* newcomm, MPI_Comm* rootscomm) {
  return ranktree_Comm_hsplit_with_roots(oldcomm, info, newcomm, rootscomm);
}

int MPI_Comm_get_hlevel_info(MPI_Comm comm, int* num_comms, int* index, char** type) {
  return ranktree_paper_get_hlevel_info(comm, num_comms, index, type);
}

int MPI_Comm_get_min_hlevel(MPI_Comm comm, int nranks, int* ranks, char** type) {
  return ranktree_paper_get_min_hlevel(comm, nranks, ranks, type);
}
