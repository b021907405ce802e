/* For LD_PRELOAD behind the world library: an order of the ranks that is not computed but given, so that a call that
 * escapes the new world shows. FORCED_ORDER: reverse (new rank = size - 1 - rank), shift (new rank = rank + 1), swap
 * (0 with 1, 2 with 3), same, fail. One rank alone fails: unread (rank 0 reading the pattern), lost (rank 1 reordering,
 * when the others are done). NO_MEMORY=K: the world library's K-th allocation on the launcher's rank 0 fails, and no
 * other. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

void* __libc_malloc(size_t size);

static int may_fail(const void* caller) {
  Dl_info from;
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  if (getenv("NO_MEMORY") == NULL || rank == NULL || strcmp(rank, "0") != 0) return 0;
  return dladdr(caller, &from) != 0 && strstr(from.dli_fname, "libranktree_world") != NULL;
}

void* malloc(size_t size) {
  static int count;
  if (may_fail(__builtin_return_address(0)) && ++count == atoi(getenv("NO_MEMORY"))) return NULL;
  return __libc_malloc(size);
}

static int is_forced(const char* word) {
  const char* order = getenv("FORCED_ORDER");
  return order != NULL && strcmp(order, word) == 0;
}

int ranktree_read_pattern(const char* file, MPI_Comm comm, const char* metric, int* n, int** sources, int** degrees,
                          int** destinations, int** weights) {  // #lizard forgives: the call's own arguments
  (void)file, (void)metric;
  *n = 0;
  *sources = *degrees = *destinations = *weights = NULL;
  int rank;
  PMPI_Comm_rank(comm, &rank);
  return rank == 0 && is_forced("unread") ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static int forced(const char* order, int rank, int size) {
  if (strcmp(order, "reverse") == 0) return size - 1 - rank;
  if (strcmp(order, "shift") == 0 || strcmp(order, "unread") == 0 || strcmp(order, "lost") == 0)
    return (rank + 1) % size;
  if (strcmp(order, "swap") == 0) return (rank ^ 1) < size ? rank ^ 1 : rank;
  return rank;
}

int ranktree_Comm_reorder(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
                          const double weights[], MPI_Info info, int* newrank, MPI_Comm* newcomm) {
  (void)n, (void)sources, (void)degrees, (void)destinations, (void)weights, (void)info;
  const char* order = getenv("FORCED_ORDER");
  if (order == NULL || is_forced("fail")) return MPI_ERR_OTHER;
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  *newrank = forced(order, rank, size);
  if (newcomm != NULL) MPI_Comm_split(comm, 0, *newrank, newcomm);
  return rank == 1 && is_forced("lost") ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}
