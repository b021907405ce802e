/* What the programs of this folder share: each rank prints what it has seen, one line a fact. The lines of a run,
 * sorted, must not depend on which process has which rank. */
#ifndef REPORT_H
#define REPORT_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int my_rank, ranks;

static inline void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static inline void report(const char* what, long value) { printf("%d %s %ld\n", my_rank, what, value); }

static inline void report_all(const char* what, const int values[], int n) {
  unsigned long sum = 14695981039346656037UL;
  for (int i = 0; i < n; ++i) sum = (sum ^ (unsigned)values[i]) * 1099511628211UL;
  printf("%d %s %lx\n", my_rank, what, sum);
}

static inline int end(void) {
  fflush(stdout);
  return MPI_Finalize();
}

#endif
