/* Behind the library that serves collectives: counts the collective calls that Ranktree makes on its own account. It
 * makes them by their PMPI_ names, and passes on what it leaves alone by MPI_ names. Every process prints the number.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int steps;

__attribute__((destructor)) static void print(void) { fprintf(stderr, "own steps %d\n", steps); }

#define COUNT(name, parameters, arguments)                                    \
  int name parameters {                                                       \
    int(*const next) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
    ++steps;                                                                  \
    return next arguments;                                                    \
  }

COUNT(PMPI_Allreduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (in, out, count, type, op, comm))
COUNT(PMPI_Iallreduce,
      (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
      (in, out, count, type, op, comm, request))
COUNT(PMPI_Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm))
COUNT(PMPI_Barrier, (MPI_Comm comm), (comm))
COUNT(PMPI_Allgather,
      (const void* in, int sent, MPI_Datatype given, void* out, int received, MPI_Datatype taken, MPI_Comm comm),
      (in, sent, given, out, received, taken, comm))
COUNT(PMPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
COUNT(PMPI_Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm* made), (comm, colour, key, made))
