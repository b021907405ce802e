// The papers' Algorithm 1 as they print it: two MPI_Comm_split, then the same collective inside and between groups.
//
//   groups broadcast|reduce|allreduce BYTES native|chains=N|scatter-ring=STEPS GROUPS...
//
// "native": the native collective on both communicators. "chains=N": a broadcast by N chains that begin at the root,
// which Open MPI calls chain, with a fan-out of 4 unless set (hier-bcast-2014 §4.2 used it). "scatter-ring=STEPS": see
// broadcasts.h; its communicators are created without a split. GROUPS = 1 splits, too, and then calls the collective
// once. Writes one line a number of groups: groups, seconds of both splits (0: none), of the collective.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "../mpi_main.h"
#include "broadcasts.h"

namespace {

using namespace papers;

struct Operation {
  std::string collective;
  int bytes = 0;
  int chains = 0;  // 0: native, or
  int steps = -1;  // of the ring after a scatter; -1: native
  void* in = nullptr;
  void* out = nullptr;
};

void call(const Operation& operation, MPI_Comm comm, RingStart& start) {
  if (comm == MPI_COMM_NULL || size_of(comm) == 1) return;
  if (operation.chains > 0) {
    broadcast_by_chains(operation.out, operation.bytes, operation.chains, comm);
  } else if (operation.steps >= 0) {
    broadcast_by_scatter_ring(static_cast<char*>(operation.out), operation.bytes, operation.steps, comm, start);
  } else if (operation.collective == "broadcast") {
    MPI_Bcast(operation.out, operation.bytes, MPI_BYTE, 0, comm);
  } else if (operation.collective == "reduce") {
    MPI_Reduce(operation.in, operation.out, operation.bytes, MPI_UNSIGNED_CHAR, MPI_MAX, 0, comm);
  } else {
    MPI_Allreduce(operation.in, operation.out, operation.bytes, MPI_UNSIGNED_CHAR, MPI_MAX, comm);
  }
}

// Of `count` ranks from `first` on, by all of them. SMPI's MPI_Comm_split has messages of rank 0 to all ranks at once,
// which take long to simulate with thousands of ranks.
MPI_Comm create(int first, int stride, int count) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int range[1][3] = {{first, first + (count - 1) * stride, stride}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, range, &members);
  MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &comm);
  MPI_Group_free(&members);
  MPI_Group_free(&world);
  return comm;
}

void measure(const Operation& operation, int groups) {
  static std::map<std::pair<int, int>, RingStart> starts;  // by the number of groups and the group, of all ranks
  const int rank = rank_in(MPI_COMM_WORLD);
  const int width = size_of(MPI_COMM_WORLD) / groups;
  const int index = rank % width;
  const bool all = operation.collective == "allreduce";  // there, each index has a communicator between groups
  MPI_Comm inner = MPI_COMM_NULL;
  MPI_Comm outer = MPI_COMM_NULL;
  double split = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (operation.steps >= 0) {
    if (groups > 1) inner = create(rank - index, 1, width);
    if (groups > 1 && index == 0) outer = create(0, width, groups);
  } else {
    const double before = MPI_Wtime();
    MPI_Comm_split(MPI_COMM_WORLD, rank / width, index, &inner);
    MPI_Comm_split(MPI_COMM_WORLD, all || index == 0 ? index : MPI_UNDEFINED, rank / width, &outer);
    split = longest(MPI_Wtime() - before);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  RingStart& between = starts[{groups, -1}];
  RingStart& inside = starts[{groups, rank / width}];
  if (groups == 1) {
    call(operation, MPI_COMM_WORLD, inside);
  } else if (operation.collective == "broadcast") {
    call(operation, outer, between);
    call(operation, inner, inside);
  } else {
    call(operation, inner, inside);
    call(operation, outer, between);
  }
  const double took = longest(MPI_Wtime() - begin - between.excluded - inside.excluded);
  if (rank == 0) std::printf("groups,%d,%.6g,%.6g\n", groups, split, took);
  if (inner != MPI_COMM_NULL) MPI_Comm_free(&inner);
  if (outer != MPI_COMM_NULL) MPI_Comm_free(&outer);
}

void run(int argc, char** argv) {
  if (argc < 5) throw std::runtime_error("groups: expected at least 4 arguments");
  const std::string method = argv[3];
  Operation operation{.collective = argv[1], .bytes = std::stoi(argv[2])};
  if (method.starts_with("chains=")) operation.chains = std::stoi(method.substr(7));
  if (method.starts_with("scatter-ring=")) operation.steps = std::stoi(method.substr(13));
  if (operation.collective != "broadcast") operation.in = SMPI_SHARED_MALLOC(static_cast<std::size_t>(operation.bytes));
  operation.out = SMPI_SHARED_MALLOC(static_cast<std::size_t>(operation.bytes));
  for (int i = 4; i < argc; ++i) measure(operation, std::stoi(argv[i]));
  if (operation.in != nullptr) SMPI_SHARED_FREE(operation.in);
  SMPI_SHARED_FREE(operation.out);
}

}  // namespace

int main(int argc, char** argv) { return bench::mpi_main(argc, argv, run); }
