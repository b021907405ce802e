// The public collectives, blocking, nonblocking and persistent, against the native ones on the same ints; their errors;
// communicators and datatypes freed while operations are in flight; many communicators. Prints "ok".
#include <mpi.h>
#include <ranktree/mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr int kBlock = 37;

void fail(const std::string& what) {
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct World {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  int size = 1;
  std::vector<int> counts;
  std::vector<int> displacements;
  int all = 0;  // ints that blocks of different sizes take, with gaps
};

World world_of(MPI_Comm comm) {
  World world{comm};
  MPI_Comm_rank(comm, &world.rank);
  MPI_Comm_size(comm, &world.size);
  for (int i = 0; i < world.size; ++i) {
    world.counts.push_back((i * 5) % 7);
    world.displacements.push_back(world.all);
    world.all += world.counts.back() + 1;
  }
  return world;
}

struct Buffers {
  std::vector<int> from;
  std::vector<int> into;
};

Buffers buffers_of(const World& world) {
  Buffers made;
  const auto length = static_cast<std::size_t>(kBlock * world.size + world.all);
  made.from.resize(length);
  std::iota(made.from.begin(), made.from.end(), 1000 * world.rank);
  made.into.assign(length, -world.rank - 1);
  return made;
}

using Call = std::function<int(Buffers&)>;
using Begin = std::function<int(Buffers&, ranktree_Request*)>;

struct Collective {
  const char* name;
  Call native;
  Call ours;
  Begin nonblocking;
  Begin persistent;
};

// NOLINTBEGIN(bugprone-macro-parentheses): arguments are argument lists
#define COLLECTIVE(Name, Lower, ...)                               \
  {#Name,                                                          \
   [=](Buffers& b) {                                               \
     (void)b;                                                      \
     return PMPI_##Name(__VA_ARGS__);                              \
   },                                                              \
   [=](Buffers& b) {                                               \
     (void)b;                                                      \
     return ranktree_##Name(__VA_ARGS__);                          \
   },                                                              \
   [=](Buffers& b, ranktree_Request* r) {                          \
     (void)b;                                                      \
     return ranktree_I##Lower(__VA_ARGS__, r);                     \
   },                                                              \
   [=](Buffers& b, ranktree_Request* r) {                          \
     (void)b;                                                      \
     return ranktree_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, r); \
   }}
// NOLINTEND(bugprone-macro-parentheses)

std::vector<Collective> collectives(const World& w, int root) {
  const MPI_Comm comm = w.comm;
  const int* counts = w.counts.data();
  const int* places = w.displacements.data();
  const int own = w.counts[static_cast<std::size_t>(w.rank)];
  return {
      COLLECTIVE(Bcast, bcast, b.into.data(), kBlock, MPI_INT, root, comm),
      COLLECTIVE(Reduce, reduce, b.from.data(), b.into.data(), kBlock, MPI_INT, MPI_SUM, root, comm),
      COLLECTIVE(Allreduce, allreduce, b.from.data(), b.into.data(), kBlock, MPI_INT, MPI_MAX, comm),
      COLLECTIVE(Barrier, barrier, comm),
      COLLECTIVE(Gather, gather, b.from.data(), kBlock, MPI_INT, b.into.data(), kBlock, MPI_INT, root, comm),
      COLLECTIVE(Gatherv, gatherv, b.from.data(), own, MPI_INT, b.into.data(), counts, places, MPI_INT, root, comm),
      COLLECTIVE(Scatter, scatter, b.from.data(), kBlock, MPI_INT, b.into.data(), kBlock, MPI_INT, root, comm),
      COLLECTIVE(Scatterv, scatterv, b.from.data(), counts, places, MPI_INT, b.into.data(), own, MPI_INT, root, comm),
      COLLECTIVE(Allgather, allgather, b.from.data(), kBlock, MPI_INT, b.into.data(), kBlock, MPI_INT, comm),
      COLLECTIVE(Allgatherv, allgatherv, b.from.data(), own, MPI_INT, b.into.data(), counts, places, MPI_INT, comm),
      COLLECTIVE(Reduce_scatter, reduce_scatter, b.from.data(), b.into.data(), counts, MPI_INT, MPI_SUM, comm),
      COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, b.from.data(), b.into.data(), kBlock, MPI_INT, MPI_BXOR,
                 comm),
      COLLECTIVE(Alltoall, alltoall, b.from.data(), kBlock, MPI_INT, b.into.data(), kBlock, MPI_INT, comm),
  };
}

void require(bool good, const Collective& collective, const char* form) {
  if (!good) fail(std::string(collective.name) + " " + form);
}

void check_forms(const World& world, const Collective& collective) {
  Buffers expected = buffers_of(world);
  require(collective.native(expected) == MPI_SUCCESS, collective, "native");
  Buffers blocking = buffers_of(world);
  require(collective.ours(blocking) == MPI_SUCCESS && blocking.into == expected.into, collective, "blocking");

  // Two at once, completed in the other order.
  Buffers first = buffers_of(world);
  Buffers second = buffers_of(world);
  std::vector<ranktree_Request> requests(2, RANKTREE_REQUEST_NULL);
  require(collective.nonblocking(first, &requests[0]) == MPI_SUCCESS, collective, "nonblocking");
  require(collective.nonblocking(second, &requests[1]) == MPI_SUCCESS, collective, "nonblocking");
  for (int flag = 0; flag == 0;) require(ranktree_Test(&requests[1], &flag) == MPI_SUCCESS, collective, "test");
  require(requests[1] == RANKTREE_REQUEST_NULL, collective, "a request that is complete");
  require(ranktree_Waitall(2, requests.data()) == MPI_SUCCESS, collective, "waitall");
  require(first.into == expected.into && second.into == expected.into, collective, "nonblocking");

  Buffers again = buffers_of(world);
  ranktree_Request lasting = RANKTREE_REQUEST_NULL;
  require(collective.persistent(again, &lasting) == MPI_SUCCESS, collective, "persistent");
  for (int i = 0; i < 3; ++i) {
    again.into.assign(again.into.size(), -world.rank - 1);
    require(ranktree_Start(&lasting) == MPI_SUCCESS && ranktree_Wait(&lasting) == MPI_SUCCESS, collective, "start");
    require(again.into == expected.into && lasting != RANKTREE_REQUEST_NULL, collective, "persistent");
  }
  require(ranktree_Request_free(&lasting) == MPI_SUCCESS && lasting == RANKTREE_REQUEST_NULL, collective, "free");
}

void expect_class(int code, int expected, const char* what) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  if (found != expected) fail(std::string(what) + ": error class " + std::to_string(found));
}

// The native calls' error classes for the same mistakes.
void check_errors(const World& world) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(world.comm, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int from = 1;
  int into = 0;
  ranktree_Barrier(comm);
  for (int round = 0; round < 2; ++round) {
    const bool native = round == 0;
    const auto bcast = native ? PMPI_Bcast : ranktree_Bcast;
    const auto reduce = native ? PMPI_Allreduce : ranktree_Allreduce;
    // Others of their kind were right.
    for (int call = 0; call < 3; ++call) bcast(&into, 1, MPI_INT, 0, comm);
    for (int call = 0; call < 3; ++call) reduce(&from, &into, 1, MPI_INT, MPI_SUM, comm);
#ifdef OPEN_MPI  // MPICH sends what it finds there
    expect_class(bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_ARG, "in place");
#endif
    expect_class(bcast(&into, 1, MPI_INT, world.size, comm), MPI_ERR_ROOT, "root");
    expect_class(bcast(&into, 1, MPI_INT, -5, comm), MPI_ERR_ROOT, "root");
    expect_class(bcast(&into, -1, MPI_INT, 0, comm), MPI_ERR_COUNT, "count");
    expect_class(bcast(&into, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE, "type");
    expect_class(bcast(&into, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM, "comm");
    expect_class(reduce(&from, &into, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "op");
    expect_class(reduce(&from, &into, 1, MPI_DOUBLE, MPI_BXOR, comm), MPI_ERR_OP, "op of a type");
  }
  ranktree_Request none = RANKTREE_REQUEST_NULL;
  expect_class(ranktree_Start(&none), MPI_ERR_REQUEST, "start");
  expect_class(ranktree_Wait(&none), MPI_SUCCESS, "wait");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
}

// What one rank alone makes, because it is wrong, is none of the calls that all ranks count.
void check_wrong_alone(const World& world) {
  constexpr int kCalls = 300;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(world.comm, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  ranktree_Barrier(comm);
  int value = 0;
  for (int call = 0; call < kCalls; ++call) {
    if (world.rank == 0 && call % 100 < 3) {
      expect_class(ranktree_Bcast(&value, 1, MPI_INT, -5, comm), MPI_ERR_ROOT, "root of one rank");
    }
    value = world.rank == 0 ? call : -1;
    ranktree_Bcast(&value, 1, MPI_INT, 0, comm);
    if (value != call) fail("a broadcast behind a wrong one");
  }
  MPI_Comm_free(&comm);
}

// What MPI ignores on a rank may be anything there, and all ranks must still go the same way.
void check_ignored(const World& world) {
  const int own = world.rank + 1;
  int sum = 0;
  void* const into = world.rank == 0 ? static_cast<void*>(&sum) : MPI_IN_PLACE;
  ranktree_Reduce(&own, into, 1, MPI_INT, MPI_SUM, 0, world.comm);
  if (world.rank == 0 && sum != world.size * (world.size + 1) / 2) fail("a reduction in no place");
  std::vector<int> all(static_cast<std::size_t>(world.size), 7);
  int got = 0;
  const void* const from = world.rank == 0 ? static_cast<const void*>(all.data()) : MPI_IN_PLACE;
  ranktree_Scatter(from, 1, MPI_INT, &got, 1, MPI_INT, 0, world.comm);
  if (got != 7) fail("a scatter from no place");
}

// Long enough for algorithms that cut vectors up, to every root.
void check_long(const World& world) {
  constexpr int kLength = 3000;
  for (int root = 0; root < world.size; ++root) {
    std::vector<int> from(kLength);
    std::iota(from.begin(), from.end(), world.rank);
    std::vector<int> into(kLength, -1);
    ranktree_Reduce(from.data(), into.data(), kLength, MPI_INT, MPI_SUM, root, world.comm);
    for (int i = 0; i < kLength && world.rank == root; ++i) {
      const int sum = i * world.size + world.size * (world.size - 1) / 2;
      if (into[static_cast<std::size_t>(i)] != sum) fail("a long reduction");
    }
  }
}

// Types of a chosen precision may not be freed, and are inside others.
void check_precision(const World& world) {
  MPI_Datatype real = MPI_DATATYPE_NULL;
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(15, 307, &real);
  MPI_Type_contiguous(3, real, &three);
  MPI_Type_commit(&three);
  std::vector<double> values(3, world.rank);
  ranktree_Bcast(values.data(), 1, three, world.size - 1, world.comm);
  MPI_Type_free(&three);
  if (values != std::vector<double>(3, world.size - 1)) fail("a type of chosen precision");
}

// A rule that nonblocking calls cannot follow makes nothing together: rank 1 begins only after rank 0 has.
void check_local(const World& world) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(world.comm, &comm);
  ranktree_Request lasting = RANKTREE_REQUEST_NULL;
  ranktree_Barrier_init(comm, MPI_INFO_NULL, &lasting);
  int value = world.rank == 0 ? 5 : 0;
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  if (world.rank == 1) MPI_Recv(nullptr, 0, MPI_INT, 0, 0, world.comm, MPI_STATUS_IGNORE);
  ranktree_Ibcast(&value, 1, MPI_INT, 0, comm, &request);
  if (world.rank == 0 && world.size > 1) MPI_Send(nullptr, 0, MPI_INT, 1, 0, world.comm);
  ranktree_Wait(&request);
  if (value != 5) fail("a nonblocking broadcast");
  ranktree_Request_free(&lasting);
  MPI_Comm_free(&comm);
}

// Communicator and datatype are gone before the operation ends.
void check_freed(const World& world) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(world.comm, &comm);
  ranktree_Barrier(comm);
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  MPI_Type_vector(kBlock, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  std::vector<int> values(2 * kBlock, world.rank);
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  if (world.rank == 1) MPI_Recv(nullptr, 0, MPI_INT, 0, 0, world.comm, MPI_STATUS_IGNORE);
  ranktree_Ibcast(values.data(), 1, pairs, 0, comm, &request);
  MPI_Type_free(&pairs);
  MPI_Comm_free(&comm);
  if (world.rank == 0 && world.size > 1) MPI_Send(nullptr, 0, MPI_INT, 1, 0, world.comm);
  ranktree_Wait(&request);
  for (int i = 0; i < 2 * kBlock; ++i) {
    if (values[static_cast<std::size_t>(i)] != (i % 2 == 0 ? 0 : world.rank)) fail("freed communicator");
  }
}

// The same of reductions, two at a time.
void check_freed_reductions(const World& world) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(world.comm, &comm);
  const std::vector<int> own(kBlock, world.rank + 1);
  std::vector<int> sums(kBlock);
  std::vector<int> most(kBlock);
  // What nonblocking calls, which are local, cannot make.
  ranktree_Allreduce(own.data(), sums.data(), kBlock, MPI_INT, MPI_SUM, comm);
  ranktree_Reduce(own.data(), most.data(), kBlock, MPI_INT, MPI_MAX, 0, comm);
  std::fill(sums.begin(), sums.end(), 0);
  std::fill(most.begin(), most.end(), 0);
  std::vector<ranktree_Request> requests(2, RANKTREE_REQUEST_NULL);
  if (world.rank == 1) MPI_Recv(nullptr, 0, MPI_INT, 0, 0, world.comm, MPI_STATUS_IGNORE);
  ranktree_Iallreduce(own.data(), sums.data(), kBlock, MPI_INT, MPI_SUM, comm, &requests[0]);
  ranktree_Ireduce(own.data(), most.data(), kBlock, MPI_INT, MPI_MAX, 0, comm, &requests[1]);
  MPI_Comm_free(&comm);
  if (world.rank == 0 && world.size > 1) MPI_Send(nullptr, 0, MPI_INT, 1, 0, world.comm);
  for (ranktree_Request& request : requests) ranktree_Wait(&request);
  if (sums != std::vector<int>(kBlock, world.size * (world.size + 1) / 2)) fail("a sum on a freed communicator");
  if (world.rank == 0 && most != std::vector<int>(kBlock, world.size)) fail("a reduction on a freed communicator");
}

// What is kept with communicators goes with them.
void check_many(const World& world, int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(world.comm, &comm);
    int value = world.rank == 0 ? i : -1;
    ranktree_Bcast(&value, 1, MPI_INT, 0, comm);
    if (value != i) fail("a duplicate's broadcast");
    MPI_Comm_free(&comm);
  }
}

// All at the same time: the program can still make as many as its MPI has, less a few hundred.
void check_alive(const World& world, int times) {
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(times), MPI_COMM_NULL);
  for (MPI_Comm& comm : comms) {
    if (MPI_Comm_dup(world.comm, &comm) != MPI_SUCCESS) fail("no more communicators");
    int value = world.rank == 0 ? 3 : -1;
    ranktree_Bcast(&value, 1, MPI_INT, 0, comm);
    if (value != 3) fail("a broadcast of one of many");
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

// Nothing but persistent calls, which no blocking ones have made anything for; then their communicator is freed.
void check_persistent_alone(const World& world, int starts) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(world.comm, &comm);
  std::vector<int> values(kBlock);
  int sum = 0;
  ranktree_Request broadcast = RANKTREE_REQUEST_NULL;
  ranktree_Request reduction = RANKTREE_REQUEST_NULL;
  const int root = world.size - 1;
  ranktree_Bcast_init(values.data(), kBlock, MPI_INT, root, comm, MPI_INFO_NULL, &broadcast);
  ranktree_Allreduce_init(&values[0], &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &reduction);
  for (int i = 0; i < starts; ++i) {
    std::fill(values.begin(), values.end(), world.rank == root ? i : -1);
    ranktree_Start(&broadcast);
    ranktree_Wait(&broadcast);
    if (values != std::vector<int>(kBlock, i)) fail("a persistent broadcast");
    ranktree_Start(&reduction);
    ranktree_Wait(&reduction);
    if (sum != i * world.size) fail("a persistent allreduce");
  }
  MPI_Comm_free(&comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  expect_class(ranktree_Start(&broadcast), MPI_ERR_COMM, "start behind its communicator");
  expect_class(ranktree_Start(&broadcast), MPI_ERR_COMM, "the same once more");
  ranktree_Request_free(&broadcast);
  ranktree_Request_free(&reduction);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const World world = world_of(MPI_COMM_WORLD);
  if (argc > 2 && std::string(argv[2]) == "persistent") {
    check_persistent_alone(world, static_cast<int>(std::strtol(argv[1], nullptr, 10)));
    if (world.rank == 0) std::printf("ok\n");
    MPI_Finalize();
    return 0;
  }
  for (int root = 0; root < world.size; ++root) {
    for (const Collective& collective : collectives(world, root)) check_forms(world, collective);
  }
  const World alone = world_of(MPI_COMM_SELF);
  for (const Collective& collective : collectives(alone, 0)) check_forms(alone, collective);
  check_errors(world);
  check_wrong_alone(world);
  check_ignored(world);
  check_long(world);
  check_precision(world);
  check_local(world);
  const auto number = [&](int at, int usual) {
    return argc > at ? static_cast<int>(std::strtol(argv[at], nullptr, 10)) : usual;
  };
  // Open MPI 4.1's own nonblocking collectives do not survive it.
  if (argc > 2 && std::string(argv[2]) == "freed") check_freed(world);
  if (argc > 2 && std::string(argv[2]) == "freed-reductions") check_freed_reductions(world);
  if (argc > 3 && std::string(argv[2]) == "alive") check_alive(world, number(3, 0));
  check_many(world, number(1, 10));
  if (world.rank == 0) std::printf("ok\n");
  MPI_Finalize();
  return 0;
}
