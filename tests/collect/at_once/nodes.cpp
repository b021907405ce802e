// nodes [CALLS]: on emulated nodes, broadcasts whose variants are tried while operations are in flight on another
// communicator: ranks that agree on a trial progress these. Prints "ok".
#include <mpi.h>
#include <ranktree/mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "around.h"
#include "two_nodes.h"

namespace {

using around::rank_of;
using around::require;

MPI_Comm on_two_nodes() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  emulate_two_nodes(comm);
  return comm;
}

void broadcast_often(MPI_Comm busy, MPI_Comm comm, std::size_t ints, int calls) {
  std::vector<int> values(ints);
  for (int call = 0; call < calls; ++call) {
    values.assign(ints, rank_of(comm) == 0 ? call : -1);
    around::around(busy, [&] { return ranktree_Bcast(values.data(), static_cast<int>(ints), MPI_INT, 0, comm); });
    require(std::all_of(values.begin(), values.end(), [&](int each) { return each == call; }), "a broadcast");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm busy = on_two_nodes();
  MPI_Comm comm = on_two_nodes();
  const int calls = argc > 1 ? std::atoi(argv[1]) : 100;
  broadcast_often(busy, comm, 100000, calls);
  broadcast_often(busy, comm, 2, calls);
  MPI_Comm_free(&busy);
  MPI_Comm_free(&comm);
  if (rank_of(MPI_COMM_WORLD) == 0) std::puts("ok");
  MPI_Finalize();
  return 0;
}
