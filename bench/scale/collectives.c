// Simulated times of isolated collectives: collectives SET-UP UNTIMED OPERATION:BYTES...
//
// All ranks begin each call at the same simulated time, so no barrier is needed. SET-UP long broadcasts come
// first, behind which `auto` has set the communicator up. Then each operation is called UNTIMED times, in which `auto`
// decides, and twice more. Rank 0 prints a line of JSON for each: seconds of the last two calls, until the last rank is
// done, the slower one; and of all UNTIMED calls together. BYTES: of the vector; of one block where there are blocks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSetUpBytes = 16384, kTimed = 2 };
static const double kApart = 1;  // seconds from call to call: more than any call takes

struct call {
  char operation[16];
  int bytes;
  void* input;
  void* output;
};

static int is(const struct call* call, const char* operation) { return strcmp(call->operation, operation) == 0; }

static void make(const struct call* call) {
  const int bytes = call->bytes;
  const int floats = bytes / (int)sizeof(float);
  MPI_Comm world = MPI_COMM_WORLD;
  if (is(call, "bcast")) {
    MPI_Bcast(call->output, bytes, MPI_CHAR, 0, world);
  } else if (is(call, "reduce")) {
    MPI_Reduce(call->input, call->output, floats, MPI_FLOAT, MPI_SUM, 0, world);
  } else if (is(call, "allreduce")) {
    MPI_Allreduce(call->input, call->output, floats, MPI_FLOAT, MPI_SUM, world);
  } else if (is(call, "allgather")) {
    MPI_Allgather(call->input, bytes, MPI_CHAR, call->output, bytes, MPI_CHAR, world);
  } else if (is(call, "reduce_scatter")) {
    MPI_Reduce_scatter_block(call->input, call->output, floats, MPI_FLOAT, MPI_SUM, world);
  } else if (is(call, "alltoall")) {
    MPI_Alltoall(call->input, bytes, MPI_CHAR, call->output, bytes, MPI_CHAR, world);
  } else {
    fprintf(stderr, "collectives: no operation '%s'\n", call->operation);
    MPI_Abort(world, 2);
  }
}

// Seconds of this rank. The n-th call begins at n times kApart; `calls` is the rank's, since ranks share globals.
static double timed(const struct call* call, int* calls) {
  static const double kNano = 1e9;
  static const long kSecond = 1000000000;
  const double begin = ++*calls * kApart;
  const long left = (long)((begin - MPI_Wtime()) * kNano);
  if (left < 0) MPI_Abort(MPI_COMM_WORLD, 3);
  const struct timespec sleep = {left / kSecond, left % kSecond};
  nanosleep(&sleep, NULL);
  make(call);
  return MPI_Wtime() - begin;
}

static void measure(const struct call* call, int untimed, int rank, int* calls) {
  enum { kNumbers = 3 };
  double seconds[kNumbers] = {0};  // of both timed calls, of all others
  for (int i = 0; i < untimed; ++i) seconds[kTimed] += timed(call, calls);
  for (int i = 0; i < kTimed; ++i) seconds[i] = timed(call, calls);
  double slowest[kNumbers];
  MPI_Reduce(seconds, slowest, kNumbers, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  printf("{\"operation\": \"%s\", \"bytes\": %d, \"seconds\": %.9g, \"untimed_s\": %.9g}\n", call->operation,
         call->bytes, slowest[0] > slowest[1] ? slowest[0] : slowest[1], slowest[kTimed]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  int calls = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  struct call set_up = {"bcast", kSetUpBytes, NULL, calloc(kSetUpBytes, 1)};
  for (int i = 0; i < atoi(argv[1]); ++i) timed(&set_up, &calls);
  free(set_up.output);
  for (int i = 3; i < argc; ++i) {
    struct call call = {"", 0, NULL, NULL};
    if (sscanf(argv[i], "%15[a-z_]:%d", call.operation, &call.bytes) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    const int vector = is(&call, "bcast") || is(&call, "reduce") || is(&call, "allreduce");
    const size_t size = (size_t)call.bytes * (size_t)(vector ? 1 : ranks);
    call.input = calloc(size, 1);
    call.output = calloc(size, 1);
    measure(&call, atoi(argv[2]), rank, &calls);
    free(call.input);
    free(call.output);
  }
  MPI_Finalize();
  return 0;
}
