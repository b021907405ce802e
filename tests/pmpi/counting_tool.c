/* A PMPI tool that counts the calls it sees. Its state is made when PMPI_Init has returned, and calls use it unchecked,
 * as tools do: a call inside MPI_Init ends with SIGSEGV. MPI_Finalize writes "COUNT NAME" lines to COUNTS.RANK. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS(X)                                                                                                      \
  X(Send, (const void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c), (b, n, t, r, g, c))                       \
  X(Isend, (const void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q), (b, n, t, r, g, c, q))   \
  X(Issend, (const void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q), (b, n, t, r, g, c, q))  \
  X(Recv, (void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Status* s), (b, n, t, r, g, c, s))           \
  X(Irecv, (void* b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request* q), (b, n, t, r, g, c, q))         \
  X(Iprobe, (int r, int g, MPI_Comm c, int* f, MPI_Status* s), (r, g, c, f, s))                                       \
  X(Test, (MPI_Request * q, int* f, MPI_Status* s), (q, f, s))                                                        \
  X(Wait, (MPI_Request * q, MPI_Status * s), (q, s))                                                                  \
  X(Waitall, (int n, MPI_Request q[], MPI_Status s[]), (n, q, s))                                                     \
  X(Get_count, (const MPI_Status* s, MPI_Datatype t, int* n), (s, t, n))                                              \
  X(Barrier, (MPI_Comm c), (c))                                                                                       \
  X(Ibarrier, (MPI_Comm c, MPI_Request * q), (c, q))                                                                  \
  X(Bcast, (void* b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c))                                      \
  X(Reduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c), (a, b, n, t, o, r, c))      \
  X(Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))             \
  X(Iallreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q),                \
    (a, b, n, t, o, c, q))                                                                                            \
  X(Scan, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))                  \
  X(Gather, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int r, MPI_Comm c),                \
    (a, n, t, b, m, u, r, c))                                                                                         \
  X(Gatherv,                                                                                                          \
    (const void* a, int n, MPI_Datatype t, void* b, const int m[], const int d[], MPI_Datatype u, int r, MPI_Comm c), \
    (a, n, t, b, m, d, u, r, c))                                                                                      \
  X(Iscatter,                                                                                                         \
    (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int r, MPI_Comm c, MPI_Request* q),        \
    (a, n, t, b, m, u, r, c, q))                                                                                      \
  X(Allgather, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),                    \
    (a, n, t, b, m, u, c))                                                                                            \
  X(Comm_rank, (MPI_Comm c, int* n), (c, n))                                                                          \
  X(Comm_size, (MPI_Comm c, int* n), (c, n))                                                                          \
  X(Comm_test_inter, (MPI_Comm c, int* n), (c, n))                                                                    \
  X(Comm_group, (MPI_Comm c, MPI_Group * g), (c, g))                                                                  \
  X(Comm_dup, (MPI_Comm c, MPI_Comm * n), (c, n))                                                                     \
  X(Comm_split, (MPI_Comm c, int k, int r, MPI_Comm* n), (c, k, r, n))                                                \
  X(Comm_split_type, (MPI_Comm c, int k, int r, MPI_Info i, MPI_Comm* n), (c, k, r, i, n))                            \
  X(Comm_free, (MPI_Comm * c), (c))                                                                                   \
  X(Comm_get_info, (MPI_Comm c, MPI_Info * i), (c, i))                                                                \
  X(Comm_create_keyval, (MPI_Comm_copy_attr_function * f, MPI_Comm_delete_attr_function * d, int* k, void* e),        \
    (f, d, k, e))                                                                                                     \
  X(Comm_free_keyval, (int* k), (k))                                                                                  \
  X(Comm_get_attr, (MPI_Comm c, int k, void* v, int* f), (c, k, v, f))                                                \
  X(Comm_set_attr, (MPI_Comm c, int k, void* v), (c, k, v))                                                           \
  X(Comm_get_errhandler, (MPI_Comm c, MPI_Errhandler * e), (c, e))                                                    \
  X(Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler e), (c, e))                                                      \
  X(Errhandler_free, (MPI_Errhandler * e), (e))                                                                       \
  X(Error_string, (int n, char* s, int* l), (n, s, l))                                                                \
  X(Cart_create, (MPI_Comm c, int n, const int d[], const int p[], int r, MPI_Comm* m), (c, n, d, p, r, m))           \
  X(Group_free, (MPI_Group * g), (g))                                                                                 \
  X(Group_translate_ranks, (MPI_Group a, int n, const int r[], MPI_Group b, int s[]), (a, n, r, b, s))                \
  X(Info_create, (MPI_Info * i), (i))                                                                                 \
  X(Info_set, (MPI_Info i, const char* k, const char* v), (i, k, v))                                                  \
  X(Info_free, (MPI_Info * i), (i))                                                                                   \
  X(Op_commutative, (MPI_Op o, int* n), (o, n))                                                                       \
  X(Op_create, (MPI_User_function * f, int n, MPI_Op* o), (f, n, o))                                                  \
  X(Op_free, (MPI_Op * o), (o))                                                                                       \
  X(Type_contiguous, (int n, MPI_Datatype t, MPI_Datatype* u), (n, t, u))                                             \
  X(Type_commit, (MPI_Datatype * t), (t))                                                                             \
  X(Type_free, (MPI_Datatype * t), (t))                                                                               \
  X(Type_get_extent, (MPI_Datatype t, MPI_Aint * l, MPI_Aint * e), (t, l, e))                                         \
  X(Type_size, (MPI_Datatype t, int* n), (t, n))

#define NUMBER(name, parameters, arguments) k##name,
enum { CALLS(NUMBER) kCalls };
#define NAME(name, parameters, arguments) #name,
static const char* const names[] = {CALLS(NAME)};
static long* seen;

#define WRAPPER(name, parameters, arguments) \
  int MPI_##name parameters {                \
    ++seen[k##name];                         \
    return PMPI_##name arguments;            \
  }
CALLS(WRAPPER)

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  seen = calloc(kCalls, sizeof(long));
  return code;
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
  seen = NULL; /* calls of the libraries inside PMPI_Finalize are not the program's */
  return PMPI_Finalize();
}
