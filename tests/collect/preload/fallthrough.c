/* Overhead of native calls under the preload library: the allocations, and the calls of MPI functions that it
   may query, in 1000 rounds once all is decided, and in the first calls that are served. Every rank prints them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

static int allocations, questions, counting;

extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* old, size_t bytes);

void* malloc(size_t bytes) {
  allocations += counting;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  allocations += counting;
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  allocations += counting;
  return __libc_realloc(old, bytes);
}

#define COUNTED(Name, Parameters, ...)                                   \
  int Name Parameters {                                                  \
    static int(*next) Parameters = NULL;                                 \
    if (next == NULL) next = (int(*) Parameters)dlsym(RTLD_NEXT, #Name); \
    questions += counting;                                               \
    return next(__VA_ARGS__);                                            \
  }
COUNTED(PMPI_Comm_get_attr, (MPI_Comm c, int key, void* value, int* found), c, key, value, found)
COUNTED(PMPI_Comm_rank, (MPI_Comm c, int* rank), c, rank)
COUNTED(PMPI_Comm_size, (MPI_Comm c, int* size), c, size)
COUNTED(PMPI_Comm_test_inter, (MPI_Comm c, int* inter), c, inter)
COUNTED(PMPI_Comm_group, (MPI_Comm c, MPI_Group* group), c, group)
COUNTED(PMPI_Type_size, (MPI_Datatype t, int* size), t, size)
COUNTED(PMPI_Op_commutative, (MPI_Op o, int* commutative), o, commutative)
COUNTED(PMPI_Iprobe, (int r, int tag, MPI_Comm c, int* any, MPI_Status* s), r, tag, c, any, s)
COUNTED(PMPI_Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), a, b, n, t, o, c)

/* Those for which no MPI allocates anything itself. */
static void on_one_rank(MPI_Comm comm) {
  int from = 1, into = 0;
  MPI_Bcast(&from, 1, MPI_INT, 0, comm);
  MPI_Reduce(&from, &into, 1, MPI_INT, MPI_SUM, 0, comm);
  MPI_Allreduce(&from, &into, 1, MPI_INT, MPI_SUM, comm);
  MPI_Barrier(comm);
  MPI_Allgather(&from, 1, MPI_INT, &into, 1, MPI_INT, comm);
}

/* Without bytes, so that the MPI itself has nothing to do (MPICH sends for an allreduce, all the same). */
static void on_all_ranks(MPI_Comm comm) {
  int from = 1, into = 0;
  MPI_Bcast(&from, 0, MPI_INT, 0, comm);
  MPI_Bcast(&from, 0, MPI_DOUBLE_INT, 0, comm);
  MPI_Reduce(&from, &into, 0, MPI_INT, MPI_SUM, 0, comm);
}

int main(int argc, char** argv) {
  int right = 0;
  MPI_Init(&argc, &argv);
  for (int round = 0; round < 1100; ++round) {
    if (round == 100) counting = 1;
    on_one_rank(MPI_COMM_SELF);
    on_all_ranks(MPI_COMM_WORLD);
  }
  const int left_allocations = allocations, left_questions = questions;
  /* Calls that a rule is for are served, which on a new communicator takes both. */
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  for (int round = 0; round < 10; ++round) {
    const int one = 1;
    int sum[2] = {0, 0};
    MPI_Allgather(&one, 1, MPI_INT, sum, 1, MPI_INT, twin);
    right += sum[0] + sum[1] == 2;
  }
  counting = 0;
  MPI_Comm_free(&twin);
  printf("%d right, %d allocations, %d questions; served %d, %d\n", right, left_allocations, left_questions,
         allocations - left_allocations, questions - left_questions);
  MPI_Finalize();
  return 0;
}
