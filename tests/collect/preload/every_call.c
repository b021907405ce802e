/* Every collective that the preload library serves, some rounds of several sizes, in place and not, with every root;
 * prints one number on rank 0 for all bytes that all ranks have received. "every_call ROUNDS [free]": with "free" each
 * round has a communicator of its own. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seen = 1469598103934665603u;
static int rank, size;

static void take(const void* bytes, size_t length) {
  const unsigned char* each = bytes;
  for (size_t i = 0; i < length; ++i) seen = (seen ^ each[i]) * 1099511628211u;
}

static void fill(int* numbers, int count, int seed) {
  for (int i = 0; i < count; ++i) numbers[i] = (int)((unsigned)(rank * 7919 + seed * 104729 + i * 31) % 100003u);
}

/* Associative, not commutative: the product of 2x2 matrices modulo a prime. */
static void product(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const int* a = in;
  int* b = inout;
  for (int i = 0; i < *length; ++i, a += 4, b += 4) {
    const int64_t p = 10007, a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    b[0] = (int)((a0 * b0 + a1 * b2) % p);
    b[1] = (int)((a0 * b1 + a1 * b3) % p);
    b[2] = (int)((a2 * b0 + a3 * b2) % p);
    b[3] = (int)((a2 * b1 + a3 * b3) % p);
  }
}

static void reductions(MPI_Comm comm, int count, int root, int seed, int* in, int* out) {
  const size_t bytes = sizeof(int) * (size_t)count;
  fill(in, count, seed);
  MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
  if (rank == root) take(out, bytes);
  fill(out, count, seed + 1);
  /* MPICH 4.0's own crashes in place at other roots than 0. */
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : out, rank == 0 ? out : NULL, count, MPI_INT, MPI_MAX, 0, comm);
  if (rank == 0) take(out, bytes);
  MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
  take(out, bytes);
  fill(out, count, seed + 2);
  MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_INT, MPI_BXOR, comm);
  take(out, bytes);
  fill(in, count * size, seed + 3);
  MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, comm);
  take(out, bytes);
  int counts[64];
  for (int i = 0; i < size; ++i) counts[i] = i % 2 == 0 ? count : count / 2;
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm);
  take(out, sizeof(int) * (size_t)counts[rank]);
}

static void matrices(MPI_Comm comm, int root, MPI_Op op, MPI_Datatype matrix, int* in, int* out) {
  fill(in, 4 * 33, 3);
  MPI_Allreduce(in, out, 33, matrix, op, comm);
  take(out, sizeof(int) * 4 * 33);
  MPI_Reduce(in, out, 33, matrix, op, root, comm);
  if (rank == root) take(out, sizeof(int) * 4 * 33);
}

static void blocks(MPI_Comm comm, int count, int root, int seed, int* in, int* out) {
  const size_t bytes = sizeof(int) * (size_t)count, all = bytes * (size_t)size;
  fill(in, count, seed);
  MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm);
  if (rank == root) take(out, all);
  memcpy(out + rank * count, in, bytes);
  MPI_Gather(rank == root ? MPI_IN_PLACE : in, count, MPI_INT, out, count, MPI_INT, root, comm);
  if (rank == root) take(out, all);
  MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
  take(out, all);
  fill(out, count * size, seed + 1);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, MPI_INT, comm);
  take(out, all);
  fill(in, count * size, seed + 2);
  MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm);
  take(out, bytes);
  MPI_Scatter(in, count, MPI_INT, rank == root ? MPI_IN_PLACE : out, count, MPI_INT, root, comm);
  take(rank == root ? in : out, bytes);
  MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
  take(out, all);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, MPI_INT, comm);
  take(out, all);
}

static void vectors(MPI_Comm comm, int count, int root, int seed, int* in, int* out) {
  int counts[64], places[64], sum = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = (i * 3 + seed) % (count + 1);
    places[i] = sum;
    sum += counts[i];
  }
  fill(in, count * size, seed);
  MPI_Gatherv(in, counts[rank], MPI_INT, out, rank == root ? counts : NULL, rank == root ? places : NULL, MPI_INT, root,
              comm);
  if (rank == root) take(out, sizeof(int) * (size_t)sum);
  MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, comm);
  take(out, sizeof(int) * (size_t)sum);
  MPI_Scatterv(in, rank == root ? counts : NULL, rank == root ? places : NULL, MPI_INT, out, counts[rank], MPI_INT,
               root, comm);
  take(out, sizeof(int) * (size_t)counts[rank]);
  int sent[64], from[64], received[64], into[64], all = 0;
  sum = 0;
  for (int i = 0; i < size; ++i) {
    sent[i] = (rank * 5 + i * 3 + seed) % (count + 1);
    from[i] = sum;
    sum += sent[i];
    received[i] = (i * 5 + rank * 3 + seed) % (count + 1);
    into[i] = all;
    all += received[i];
  }
  fill(in, sum, seed + 4);
  MPI_Alltoallv(in, sent, from, MPI_INT, out, received, into, MPI_INT, comm);
  take(out, sizeof(int) * (size_t)all);
}

/* With MPI_Count, and counts that MPI ignores on a rank beyond those of an int. */
static void long_counts(MPI_Comm comm, int count, int root, int seed, int* in, int* out) {
#if MPI_VERSION >= 4
  const MPI_Count ignored = (MPI_Count)1 << 40;
  const size_t bytes = sizeof(int) * (size_t)count, all = bytes * (size_t)size;
  fill(in, count * size, seed + 5);
  MPI_Gather_c(in, count, MPI_INT, rank == root ? out : NULL, rank == root ? count : ignored, MPI_INT, root, comm);
  if (rank == root) take(out, all);
  MPI_Scatter_c(rank == root ? in : NULL, rank == root ? count : ignored, MPI_INT, out, count, MPI_INT, root, comm);
  take(out, bytes);
  MPI_Alltoall_c(MPI_IN_PLACE, ignored, MPI_INT, in, count, MPI_INT, comm);
  take(in, all);
#else
  (void)comm, (void)count, (void)root, (void)seed, (void)in, (void)out;
#endif
}

/* The gaps of a vector type stay what they were. */
static void broadcasts(MPI_Comm comm, int count, int root, int seed, int* out) {
  MPI_Datatype strided;
  MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  fill(out, 2 * count, rank == root ? seed : 5);
  MPI_Bcast(out, 1, strided, root, comm);
  take(out, sizeof(int) * 2 * (size_t)count);
  MPI_Bcast(out, count, MPI_INT, root, comm);
  take(out, sizeof(int) * (size_t)count);
  MPI_Bcast(out, 0, MPI_INT, root, comm);
  MPI_Type_free(&strided);
}

static void print_all(void) {
  uint64_t* all = rank == 0 ? malloc(sizeof *all * (size_t)size) : NULL;
  if (rank != 0) MPI_Send(&seen, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
  if (rank != 0) return;
  all[0] = seen;
  for (int i = 1; i < size; ++i) MPI_Recv(all + i, 1, MPI_UINT64_T, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(all, sizeof *all * (size_t)size);
  printf("%016llx\n", (unsigned long long)seen);
  free(all);
}

int main(int argc, char** argv) {
  static const int kCounts[] = {1, 9, 1000, 20000};
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  const int own = argc > 2 && strcmp(argv[2], "free") == 0;
  MPI_Op op;
  MPI_Datatype matrix;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op_create(product, 0, &op);
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  int *in = calloc((size_t)(20000 * size + 64), sizeof(int)), *out = calloc((size_t)(40000 * size + 64), sizeof(int));
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (own) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int root = round % size;
    for (int i = 0; i < 4; ++i) {
      broadcasts(comm, kCounts[i], root, round, out);
      reductions(comm, kCounts[i], root, round, in, out);
      blocks(comm, kCounts[i] / 4 + 1, root, round, in, out);
      vectors(comm, kCounts[i] / 4 + 1, root, round, in, out);
      long_counts(comm, kCounts[i] / 4 + 1, root, round, in, out);
      matrices(comm, root, op, matrix, in, out);
      MPI_Barrier(comm);
    }
    if (own) MPI_Comm_free(&comm);
  }
  print_all();
  free(in);
  free(out);
  MPI_Type_free(&matrix);
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
