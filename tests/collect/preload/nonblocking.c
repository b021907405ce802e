/* MPI_Ibcast, MPI_Ireduce and MPI_Iallreduce, completed by each of MPI's calls for that. Rank 0 prints one number
 * for all bytes that all ranks have received, which must be the same by every variant; canaries are checked here.
 *   random SEED ROUNDS   several at a time, of random kinds, on three communicators, between blocking collectives
 *   waits                a rank sits in MPI_Recv for a message that follows its own part of a broadcast
 *   sleeps SECONDS       a rank is outside MPI meanwhile; "late" where the others waited for it
 *   frees [wait]         requests are freed at once, and communicators, and no rank waits in the end; MPI allows the
 *                        second only, so that its own calls are waited for
 *   own                  operations of the program's own
 *   level                the thread level, and how many threads there are
 *   short                a broadcast whose root sends too much: the class of each rank's error */
#include <dirent.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 6, kLongest = 40000, kGuard = 8 };
static const int kCanary = 0x5eed5eed;

static uint64_t seen = 1469598103934665603u;
static uint64_t state;
static int rank, size;

/* The same on all ranks. */
static int draw(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)below);
}

static void take(const void* bytes, size_t length) {
  const unsigned char* each = bytes;
  for (size_t i = 0; i < length; ++i) seen = (seen ^ each[i]) * 1099511628211u;
}

static void fail(const char* what) {
  printf("rank %d: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

typedef struct {
  int *in, *out; /* with canaries before and after */
  int ints;      /* of a buffer */
  int receives;
  MPI_Request request;
} Call;

static void guard(int* buffer, int ints) {
  for (int i = 0; i < kGuard; ++i) buffer[i] = buffer[kGuard + ints + i] = kCanary;
}

static void look(const int* buffer, int ints) {
  for (int i = 0; i < kGuard; ++i) {
    if (buffer[i] != kCanary || buffer[kGuard + ints + i] != kCanary) fail("a canary is dead");
  }
}

static void prepare(Call* call, int ints, int seed) {
  call->ints = ints;
  guard(call->in, ints);
  guard(call->out, ints);
  for (int i = 0; i < ints; ++i) {
    call->in[kGuard + i] = (int)((unsigned)(rank * 7919 + seed * 104729 + i * 31) % 100003u);
    call->out[kGuard + i] = -1;
  }
}

/* Whole numbers, so that sums are the same in any order. */
static void make_doubles(int* ints, int count) {
  for (int i = 0; i < count; ++i) {
    const double value = (double)(ints[2 * i] % 1000);
    memcpy(ints + 2 * i, &value, sizeof value);
  }
}

static void begin(Call* call, MPI_Comm comm, int seed) {
  static const int kCounts[] = {0, 1, 7, 100, 1000, 3000, 16000};
  const int count = kCounts[draw(7)], kind = draw(3), root = draw(size), doubles = draw(2), in_place = draw(3) == 0;
  MPI_Datatype type = doubles ? MPI_DOUBLE : MPI_INT;
  MPI_Op op = draw(2) ? MPI_SUM : MPI_MAX;
  int own;
  MPI_Comm_rank(comm, &own);
  prepare(call, doubles ? 2 * count : count, seed);
  int *in = call->in + kGuard, *out = call->out + kGuard;
  if (doubles) make_doubles(in, count);
  call->receives = kind != 1 || own == root;
  if (kind == 0) {
    if (own == root) memcpy(out, in, sizeof(int) * (size_t)call->ints);
    MPI_Datatype strided;
    MPI_Type_vector(count / 2, 1, 2, type, &strided); /* gaps stay what they were */
    MPI_Type_commit(&strided);
    const int gaps = in_place && count >= 2;
    MPI_Ibcast(out, gaps ? 1 : count, gaps ? strided : type, root, comm, &call->request);
    MPI_Type_free(&strided);
  } else if (kind == 1) {
    const int at_root = in_place && own == root && root == 0; /* MPICH 4.0's own crashes in place at other roots */
    if (at_root) memcpy(out, in, sizeof(int) * (size_t)call->ints);
    MPI_Ireduce(at_root ? MPI_IN_PLACE : in, out, count, type, op, root, comm, &call->request);
  } else {
    if (in_place) memcpy(out, in, sizeof(int) * (size_t)call->ints);
    MPI_Iallreduce(in_place ? MPI_IN_PLACE : in, out, count, type, op, comm, &call->request);
  }
}

static void finish(Call* call) {
  look(call->in, call->ints);
  look(call->out, call->ints);
}

/* In the order of the calls, so that the number does not depend on who was first. */
static void finish_all(Call* calls, int count) {
  for (int i = 0; i < count; ++i) {
    finish(&calls[i]);
    if (calls[i].receives) take(calls[i].out + kGuard, sizeof(int) * (size_t)calls[i].ints);
  }
}

static void compute(void) {
  volatile double sum = 0;
  for (int i = 0; i < 20000; ++i) sum += i;
}

/* Each rank by other calls, which `how` selects. */
static void complete(Call* calls, int count, int how) {
  MPI_Request requests[kMost];
  MPI_Status statuses[kMost];
  int indices[kMost], flag = 0, done = 0, index, some;
  for (int i = 0; i < count; ++i) requests[i] = calls[i].request;
  switch (how) {
    case 0:
      MPI_Waitall(count, requests, statuses);
      break;
    case 1:
      for (int i = count; i-- > 0;) MPI_Wait(&requests[i], &statuses[0]);
      break;
    case 2:
      for (; done < count; ++done) {
        MPI_Waitany(count, requests, &index, &statuses[0]);
        if (index < 0 || index >= count) fail("MPI_Waitany");
      }
      break;
    case 3:
      while (!flag) {
        compute();
        MPI_Testall(count, requests, &flag, statuses);
      }
      break;
    case 4:
      while (done < count) {
        MPI_Waitsome(count, requests, &some, indices, statuses);
        done += some;
      }
      break;
    case 5:
      for (int i = 0; i < count; ++i) {
        for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
      }
      break;
    default:
      for (int i = 0; i < count; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, &statuses[0]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      }
  }
  for (int i = 0; i < count; ++i) {
    if (requests[i] != MPI_REQUEST_NULL) fail("a request is still there");
  }
}

static void random_calls(Call* calls, int seed, int rounds) {
  MPI_Comm comms[3] = {MPI_COMM_WORLD};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[2]);
  state = (uint64_t)seed;
  for (int round = 0; round < rounds; ++round) {
    const int count = 1 + draw(kMost);
    for (int i = 0; i < count; ++i) {
      MPI_Comm comm = comms[draw(3)];
      begin(&calls[i], comm, round * kMost + i);
      const int between = draw(6);
      int values[2] = {rank + round, round};
      if (between == 0) MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT, MPI_SUM, comm);
      if (between == 1) MPI_Bcast(values, 2, MPI_INT, draw(size), comm);
      if (between == 2) MPI_Barrier(comm);
      if (between < 2) take(values, sizeof values);
    }
    complete(calls, count, (rank * 3 + round) % 7);
    finish_all(calls, count);
  }
  MPI_Comm_free(&comms[1]);
  MPI_Comm_free(&comms[2]);
}

static void broadcast(Call* call, int ints, int seed, MPI_Comm comm) {
  prepare(call, ints, seed);
  if (rank == 0) memcpy(call->out + kGuard, call->in + kGuard, sizeof(int) * (size_t)ints);
  call->receives = 1;
  MPI_Ibcast(call->out + kGuard, ints, MPI_INT, 0, comm, &call->request);
}

static void waits(Call* call) {
  const int middle = 1, last = size - 1;
  for (int round = 0; round < 20; ++round) {
    int word = round;
    broadcast(call, round % 2 == 0 ? 64 : kLongest, round, MPI_COMM_WORLD);
    if (rank == middle && last != middle) MPI_Recv(&word, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&call->request, MPI_STATUS_IGNORE);
    if (rank == last && last != middle) MPI_Send(&word, 1, MPI_INT, middle, 3, MPI_COMM_WORLD);
    finish_all(call, 1);
  }
}

static void sleeps(Call* call, double seconds) {
  MPI_Barrier(MPI_COMM_WORLD);
  broadcast(call, kLongest, 1, MPI_COMM_WORLD);
  if (rank == 1) usleep((useconds_t)(seconds * 1e6));
  const double start = MPI_Wtime();
  MPI_Wait(&call->request, MPI_STATUS_IGNORE);
  if (rank == size - 1 && MPI_Wtime() - start > seconds / 2) printf("late\n");
  fflush(stdout);
  finish_all(call, 1);
}

static void end(MPI_Request* request, int wait) {
  if (wait) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
  } else {
    MPI_Request_free(request);
  }
  if (*request != MPI_REQUEST_NULL) fail("a request is still there");
}

static void frees(Call* calls, int wait) {
  for (int round = 0; round < 24; ++round) {
    MPI_Comm comm;
    int word = 0;
    broadcast(&calls[0], round % 2 == 0 ? 10 : 10000, round, MPI_COMM_WORLD);
    if (rank == 0) {
      end(&calls[0].request, wait);
      for (int i = 1; i < size; ++i) MPI_Recv(&word, 1, MPI_INT, i, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Wait(&calls[0].request, MPI_STATUS_IGNORE);
      MPI_Send(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
    finish_all(calls, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    broadcast(&calls[1], 1000, round, comm);
    if (!wait) MPI_Comm_free(&comm);
    MPI_Wait(&calls[1].request, MPI_STATUS_IGNORE);
    if (wait) MPI_Comm_free(&comm);
    finish_all(calls + 1, 1);
  }
}

/* Freed, and then MPI_Finalize; the buffers live on. */
static void leave_some(Call* calls, int wait) {
  for (int i = 0; i < kMost; ++i) {
    broadcast(&calls[i], 5000, i, MPI_COMM_WORLD);
    end(&calls[i].request, wait);
  }
}

static void most(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) {
    if (((int*)in)[i] > ((int*)inout)[i]) ((int*)inout)[i] = ((int*)in)[i];
  }
}

static void own(Call* call) {
  MPI_Op op;
  MPI_Op_create(most, 1, &op);
  for (int round = 0; round < 10; ++round) {
    prepare(call, 1000, round);
    call->receives = 1;
    MPI_Iallreduce(call->in + kGuard, call->out + kGuard, 1000, MPI_INT, op, MPI_COMM_WORLD, &call->request);
    MPI_Wait(&call->request, MPI_STATUS_IGNORE);
    finish_all(call, 1);
  }
  MPI_Op_free(&op);
}

static void level(void) {
  int provided, threads = 0;
  MPI_Query_thread(&provided);
  DIR* folder = opendir("/proc/self/task");
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE* file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(name, sizeof name, file) != NULL && strcmp(name, "ranktree\n") == 0) ++threads;
    fclose(file);
  }
  closedir(folder);
  if (rank == 0) printf("level %d threads %d\n", provided == MPI_THREAD_MULTIPLE, threads);
}

static void too_short(Call* call) {
  int class = MPI_SUCCESS, word = rank;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  prepare(call, 100, 1);
  int code = MPI_Ibcast(call->out + kGuard, rank == 0 ? 100 : 10, MPI_INT, 0, MPI_COMM_WORLD, &call->request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&call->request, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if ((class == MPI_ERR_TRUNCATE) != (rank != 0)) fail("not MPI_ERR_TRUNCATE");
  MPI_Request next;
  MPI_Iallreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &next);
  if (MPI_Wait(&next, MPI_STATUS_IGNORE) != MPI_SUCCESS) fail("the next one");
  take(&word, sizeof word);
}

static void print_all(void) {
  uint64_t all[64] = {seen};
  if (rank != 0) MPI_Send(&seen, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int i = 1; i < size; ++i) MPI_Recv(all + i, 1, MPI_UINT64_T, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(all, sizeof *all * (size_t)size);
  printf("%016llx\n", (unsigned long long)seen);
  fflush(stdout);
}

int main(int argc, char** argv) {
  Call calls[kMost];
  const char* what = argc > 1 ? argv[1] : "level";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < kMost; ++i) {
    calls[i].in = malloc(sizeof(int) * (kLongest + 2 * kGuard));
    calls[i].out = malloc(sizeof(int) * (kLongest + 2 * kGuard));
  }
  if (strcmp(what, "random") == 0) random_calls(calls, atoi(argv[2]), atoi(argv[3]));
  if (strcmp(what, "waits") == 0) waits(calls);
  if (strcmp(what, "sleeps") == 0) sleeps(calls, atof(argv[2]));
  if (strcmp(what, "frees") == 0) frees(calls, argc > 2);
  if (strcmp(what, "own") == 0) own(calls);
  if (strcmp(what, "level") == 0) level();
  if (strcmp(what, "short") == 0) too_short(calls);
  print_all();
  if (strcmp(what, "frees") == 0) leave_some(calls, argc > 2);
  MPI_Finalize();
  for (int i = 0; i < kMost; ++i) {
    free(calls[i].in);
    free(calls[i].out);
  }
  return 0;
}
