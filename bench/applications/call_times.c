// A tool of MPI's profiling interface: the time that each rank spends in each call, by Open MPI's C and Fortran
// entries.
//
// MPI_Finalize appends a line a call to the file CALL_TIMES, "name calls seconds": calls of all ranks, seconds the mean
// over the ranks; "program" has the seconds from MPI_Init to MPI_Finalize, without calls. Linked with lazy binding:
// a program without Fortran has no pmpi_*_.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define VARIABLE_COUNTS const int *n, const int *p
#define REQUEST MPI_Request* r
#define GROUP int root, MPI_Comm c
// X(name, in Fortran, its arguments there, parameters, arguments)
#define CALLS(X)                                                                                                       \
  X(Send, send, 7, (const void* b, int n, MPI_Datatype t, int to, int g, MPI_Comm c), (b, n, t, to, g, c))             \
  X(Ssend, ssend, 7, (const void* b, int n, MPI_Datatype t, int to, int g, MPI_Comm c), (b, n, t, to, g, c))           \
  X(Rsend, rsend, 7, (const void* b, int n, MPI_Datatype t, int to, int g, MPI_Comm c), (b, n, t, to, g, c))           \
  X(Bsend, bsend, 7, (const void* b, int n, MPI_Datatype t, int to, int g, MPI_Comm c), (b, n, t, to, g, c))           \
  X(Isend, isend, 8, (const void* b, int n, MPI_Datatype t, int to, int g, MPI_Comm c, REQUEST),                       \
    (b, n, t, to, g, c, r))                                                                                            \
  X(Recv, recv, 8, (void* b, int n, MPI_Datatype t, int of, int g, MPI_Comm c, MPI_Status* s), (b, n, t, of, g, c, s)) \
  X(Irecv, irecv, 8, (void* b, int n, MPI_Datatype t, int of, int g, MPI_Comm c, REQUEST), (b, n, t, of, g, c, r))     \
  X(Sendrecv, sendrecv, 13,                                                                                            \
    (const void* a, int n, MPI_Datatype t, int to, int g, void* b, int m, MPI_Datatype u, int of, int h, MPI_Comm c,   \
     MPI_Status* s),                                                                                                   \
    (a, n, t, to, g, b, m, u, of, h, c, s))                                                                            \
  X(Sendrecv_replace, sendrecv_replace, 10,                                                                            \
    (void* b, int n, MPI_Datatype t, int to, int g, int of, int h, MPI_Comm c, MPI_Status* s),                         \
    (b, n, t, to, g, of, h, c, s))                                                                                     \
  X(Probe, probe, 5, (int of, int g, MPI_Comm c, MPI_Status* s), (of, g, c, s))                                        \
  X(Iprobe, iprobe, 6, (int of, int g, MPI_Comm c, int* f, MPI_Status* s), (of, g, c, f, s))                           \
  X(Start, start, 2, (REQUEST), (r))                                                                                   \
  X(Startall, startall, 3, (int n, REQUEST), (n, r))                                                                   \
  X(Wait, wait, 3, (REQUEST, MPI_Status * s), (r, s))                                                                  \
  X(Waitall, waitall, 4, (int n, REQUEST, MPI_Status* s), (n, r, s))                                                   \
  X(Waitany, waitany, 5, (int n, REQUEST, int* i, MPI_Status* s), (n, r, i, s))                                        \
  X(Waitsome, waitsome, 6, (int n, REQUEST, int* m, int* i, MPI_Status* s), (n, r, m, i, s))                           \
  X(Test, test, 4, (REQUEST, int* f, MPI_Status* s), (r, f, s))                                                        \
  X(Testall, testall, 5, (int n, REQUEST, int* f, MPI_Status* s), (n, r, f, s))                                        \
  X(Testany, testany, 6, (int n, REQUEST, int* i, int* f, MPI_Status* s), (n, r, i, f, s))                             \
  X(Testsome, testsome, 6, (int n, REQUEST, int* m, int* i, MPI_Status* s), (n, r, m, i, s))                           \
  X(Barrier, barrier, 2, (MPI_Comm c), (c))                                                                            \
  X(Bcast, bcast, 6, (void* b, int n, MPI_Datatype t, GROUP), (b, n, t, root, c))                                      \
  X(Reduce, reduce, 8, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, GROUP), (a, b, n, t, o, root, c))     \
  X(Allreduce, allreduce, 7, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),                    \
    (a, b, n, t, o, c))                                                                                                \
  X(Scan, scan, 7, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))          \
  X(Exscan, exscan, 7, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))      \
  X(Reduce_scatter, reduce_scatter, 7, (const void* a, void* b, const int* n, MPI_Datatype t, MPI_Op o, MPI_Comm c),   \
    (a, b, n, t, o, c))                                                                                                \
  X(Reduce_scatter_block, reduce_scatter_block, 7,                                                                     \
    (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))                         \
  X(Gather, gather, 9, (const void* a, int m, MPI_Datatype u, void* b, int n, MPI_Datatype t, GROUP),                  \
    (a, m, u, b, n, t, root, c))                                                                                       \
  X(Scatter, scatter, 9, (const void* a, int m, MPI_Datatype u, void* b, int n, MPI_Datatype t, GROUP),                \
    (a, m, u, b, n, t, root, c))                                                                                       \
  X(Allgather, allgather, 8, (const void* a, int m, MPI_Datatype u, void* b, int n, MPI_Datatype t, MPI_Comm c),       \
    (a, m, u, b, n, t, c))                                                                                             \
  X(Alltoall, alltoall, 8, (const void* a, int m, MPI_Datatype u, void* b, int n, MPI_Datatype t, MPI_Comm c),         \
    (a, m, u, b, n, t, c))                                                                                             \
  X(Gatherv, gatherv, 10, (const void* a, int m, MPI_Datatype u, void* b, VARIABLE_COUNTS, MPI_Datatype t, GROUP),     \
    (a, m, u, b, n, p, t, root, c))                                                                                    \
  X(Scatterv, scatterv, 10, (const void* a, VARIABLE_COUNTS, MPI_Datatype t, void* b, int m, MPI_Datatype u, GROUP),   \
    (a, n, p, t, b, m, u, root, c))                                                                                    \
  X(Allgatherv, allgatherv, 9,                                                                                         \
    (const void* a, int m, MPI_Datatype u, void* b, VARIABLE_COUNTS, MPI_Datatype t, MPI_Comm c),                      \
    (a, m, u, b, n, p, t, c))                                                                                          \
  X(Alltoallv, alltoallv, 10,                                                                                          \
    (const void* a, const int* m, const int* q, MPI_Datatype u, void* b, VARIABLE_COUNTS, MPI_Datatype t, MPI_Comm c), \
    (a, m, q, u, b, n, p, t, c))                                                                                       \
  X(Ibarrier, ibarrier, 3, (MPI_Comm c, REQUEST), (c, r))                                                              \
  X(Ibcast, ibcast, 7, (void* b, int n, MPI_Datatype t, GROUP, REQUEST), (b, n, t, root, c, r))                        \
  X(Iallreduce, iallreduce, 8, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, REQUEST),         \
    (a, b, n, t, o, c, r))                                                                                             \
  X(Comm_split, comm_split, 5, (MPI_Comm c, int color, int key, MPI_Comm* of), (c, color, key, of))                    \
  X(Comm_dup, comm_dup, 3, (MPI_Comm c, MPI_Comm * of), (c, of))                                                       \
  X(Comm_create, comm_create, 4, (MPI_Comm c, MPI_Group g, MPI_Comm * of), (c, g, of))                                 \
  X(Comm_free, comm_free, 2, (MPI_Comm * c), (c))                                                                      \
  X(Cart_create, cart_create, 7, (MPI_Comm c, int n, const int* sides, const int* around, int reorder, MPI_Comm* of),  \
    (c, n, sides, around, reorder, of))                                                                                \
  X(Win_fence, win_fence, 3, (int assert, MPI_Win w), (assert, w))                                                     \
  X(Win_lock, win_lock, 5, (int kind, int rank, int assert, MPI_Win w), (kind, rank, assert, w))                       \
  X(Win_unlock, win_unlock, 3, (int rank, MPI_Win w), (rank, w))                                                       \
  X(Win_flush, win_flush, 3, (int rank, MPI_Win w), (rank, w))

#define NUMBER(name, fortran, count, parameters, arguments) k##name,
enum { CALLS(NUMBER) kCalls };
#define NAME(name, fortran, count, parameters, arguments) #name,
static const char* const names[kCalls] = {CALLS(NAME)};
static double seconds[kCalls + 1];  // the last: of the program
static double calls[kCalls + 1];
static double begin;

static void add(int call, double start) {
  seconds[call] += PMPI_Wtime() - start;
  calls[call] += 1;
}

#define C_ENTRY(name, fortran, count, parameters, arguments) \
  int MPI_##name parameters {                                \
    const double start = PMPI_Wtime();                       \
    const int code = PMPI_##name arguments;                  \
    add(k##name, start);                                     \
    return code;                                             \
  }
CALLS(C_ENTRY)

// Fortran passes addresses only.
#define P2 void *a1, void *a2
#define P3 P2, void* a3
#define P4 P3, void* a4
#define P5 P4, void* a5
#define P6 P5, void* a6
#define P7 P6, void* a7
#define P8 P7, void* a8
#define P9 P8, void* a9
#define P10 P9, void* a10
#define P13 P10, void *a11, void *a12, void *a13
#define A2 a1, a2
#define A3 A2, a3
#define A4 A3, a4
#define A5 A4, a5
#define A6 A5, a6
#define A7 A6, a7
#define A8 A7, a8
#define A9 A8, a9
#define A10 A9, a10
#define A13 A10, a11, a12, a13
#define ENTRY(name, symbol, count)     \
  void p##symbol(P##count);            \
  void symbol(P##count) {              \
    const double start = PMPI_Wtime(); \
    p##symbol(A##count);               \
    add(k##name, start);               \
  }
#define FORTRAN_ENTRIES(name, fortran, count, parameters, arguments) \
  ENTRY(name, mpi_##fortran##_, count)                               \
  ENTRY(name, mpi_##fortran##_f08_, count)
CALLS(FORTRAN_ENTRIES)

static void report(void) {
  const char* path = getenv("CALL_TIMES");
  double all_seconds[kCalls + 1];
  double all_calls[kCalls + 1];
  int rank = 0;
  int ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  seconds[kCalls] = PMPI_Wtime() - begin;
  PMPI_Reduce(seconds, all_seconds, kCalls + 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(calls, all_calls, kCalls + 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  FILE* file = rank == 0 && path != NULL ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  for (int i = 0; i < kCalls; ++i) {
    if (all_calls[i] > 0) fprintf(file, "%s %.0f %.9f\n", names[i], all_calls[i], all_seconds[i] / ranks);
  }
  fprintf(file, "program 0 %.9f\n", all_seconds[kCalls] / ranks);
  fclose(file);
}

int MPI_Init(int* count, char*** words) {
  const int code = PMPI_Init(count, words);
  begin = PMPI_Wtime();
  return code;
}

int MPI_Init_thread(int* count, char*** words, int wanted, int* given) {
  const int code = PMPI_Init_thread(count, words, wanted, given);
  begin = PMPI_Wtime();
  return code;
}

int MPI_Finalize(void) {
  report();
  return PMPI_Finalize();
}

#define FORTRAN_LIFE(suffix)                                             \
  void pmpi_init_##suffix(void* code);                                   \
  void mpi_init_##suffix(void* code) {                                   \
    pmpi_init_##suffix(code);                                            \
    begin = PMPI_Wtime();                                                \
  }                                                                      \
  void pmpi_init_thread_##suffix(void* wanted, void* given, void* code); \
  void mpi_init_thread_##suffix(void* wanted, void* given, void* code) { \
    pmpi_init_thread_##suffix(wanted, given, code);                      \
    begin = PMPI_Wtime();                                                \
  }                                                                      \
  void pmpi_finalize_##suffix(void* code);                               \
  void mpi_finalize_##suffix(void* code) {                               \
    report();                                                            \
    pmpi_finalize_##suffix(code);                                        \
  }
FORTRAN_LIFE()
FORTRAN_LIFE(f08_)
