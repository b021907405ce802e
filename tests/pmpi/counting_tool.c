/* A PMPI tool that counts all calls of C. Its state is made when PMPI_Init has returned, and calls use it unchecked, as
 * tools do: a call inside MPI_Init ends with SIGSEGV, as does one inside MPI_Finalize, which writes "COUNT NAME" lines
 * to COUNTS.RANK. calls.h, made by counting_tool.py, has a line CALL(type, name, (parameters), (arguments)) for each
 * other call of the MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
#define CALL(type, name, parameters, arguments) k##name,
#include "calls.h"
#undef CALL
  kCalls
};

static const char* const names[] = {
#define CALL(type, name, parameters, arguments) #name,
#include "calls.h"
#undef CALL
};

static long* seen;

/* In parentheses, since some MPIs have macros of the same names. */
#define CALL(type, name, parameters, arguments) \
  type(name) parameters {                       \
    ++seen[k##name];                            \
    return (P##name)arguments;                  \
  }
#include "calls.h"

static int begin(int code) {
  seen = calloc(kCalls, sizeof(long));
  return code;
}

int MPI_Init(int* argc, char*** argv) { return begin(PMPI_Init(argc, argv)); }

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return begin(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", getenv("COUNTS"), rank);
  FILE* file = fopen(path, "w");
  for (int call = 0; call < kCalls; ++call)
    if (seen[call] != 0) fprintf(file, "%ld %s\n", seen[call], names[call]);
  fclose(file);
  seen = NULL;
  return PMPI_Finalize();
}
