// A long random schedule, the same on every rank: messages on temporary communicators and with temporary datatypes, so
// that MPI reuses handles all the time. mixed SEED
#include "expect.h"

enum { kMost = 64, kCommunicators = 6, kTypes = 4, kSteps = 1000, kInts = 64 };

typedef struct {
  MPI_Comm comm;
  int place[kMost];  // of each world rank
} Members;

static int rank, size;
static unsigned long long state;
static Members members[kCommunicators];
static MPI_Datatype types[kTypes];
static int type_ints[kTypes];
static long long messages[kMost], bytes[kMost];

static int draw(int below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((state >> 33) % (unsigned)below);
}

static void new_communicator(int index) {
  Members* m = &members[index];
  if (m->comm != MPI_COMM_NULL) MPI_Comm_free(&m->comm);
  for (int i = 0; i < size; ++i) m->place[i] = i;
  for (int i = size - 1; i > 0; --i) {
    const int j = draw(i + 1), swap = m->place[i];
    m->place[i] = m->place[j];
    m->place[j] = swap;
  }
  MPI_Comm_split(MPI_COMM_WORLD, 0, m->place[rank], &m->comm);
}

static void new_type(int index) {
  if (types[index] != MPI_DATATYPE_NULL) MPI_Type_free(&types[index]);
  type_ints[index] = 1 + draw(8);
  MPI_Type_vector(type_ints[index], 1, 2, MPI_INT, &types[index]);
  MPI_Type_commit(&types[index]);
}

static void message(int from, int to, const Members* m, int type, int count) {
  static int out[8 * 16], in[8 * 16];
  MPI_Request request;
  if (rank == to) MPI_Irecv(in, kInts, MPI_INT, m->place[from], 0, m->comm, &request);
  if (rank == from) {
    MPI_Send(out, count, types[type], m->place[to], 0, m->comm);
    ++messages[to];
    bytes[to] += (long long)count * type_ints[type] * (long long)sizeof(int);
  }
  if (rank == to) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  state = argc > 1 ? (unsigned long long)atoi(argv[1]) : 1;
  for (int i = 0; i < kCommunicators; ++i) members[i].comm = MPI_COMM_NULL;
  for (int i = 0; i < kTypes; ++i) types[i] = MPI_DATATYPE_NULL;
  for (int i = 0; i < kCommunicators; ++i) new_communicator(i);
  for (int i = 0; i < kTypes; ++i) new_type(i);
  for (int step = 0; step < kSteps; ++step) {
    const int kind = draw(100);
    if (kind < 3) new_communicator(draw(kCommunicators));
    if (kind >= 3 && kind < 8) new_type(draw(kTypes));
    if (kind >= 8) {
      const int from = draw(size), to = draw(size), comm = draw(kCommunicators), type = draw(kTypes);
      message(from, to, &members[comm], type, draw(8));
    }
  }
  for (int i = 0; i < size; ++i) {
    if (messages[i] > 0) expect_pair("p2p", rank, i, messages[i], bytes[i]);
  }
  for (int i = 0; i < kCommunicators; ++i) MPI_Comm_free(&members[i].comm);
  for (int i = 0; i < kTypes; ++i) MPI_Type_free(&types[i]);
  MPI_Finalize();
  return 0;
}
