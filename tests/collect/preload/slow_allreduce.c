/* Behind the library that serves collectives: the native large allreduce, made slow. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

typedef int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

static allreduce slow(const char* name, int count) {
  if (count >= 1000) usleep(10000);
  return (allreduce)dlsym(RTLD_NEXT, name);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return slow("MPI_Allreduce", count)(in, out, count, type, op, comm);
}

int PMPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return slow("PMPI_Allreduce", count)(in, out, count, type, op, comm);
}
