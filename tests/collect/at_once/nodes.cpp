// nodes: on emulated nodes, broadcasts whose ways are tried while operations are under way on another communicator:
// ranks that meet for a trial pass these on. Prints "ok".
#include <mpi.h>
#include <ranktree/mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include "around.h"
#include "mpi/attribute.h"

namespace {

using around::rank_of;
using around::require;

// Two nodes of consecutive ranks: this machine is one.
MPI_Comm on_two_nodes() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  ranktree::mpi::Annotation annotation;
  annotation.node = ranktree::mpi::SharedNode{rank_of(comm) < (around::size_of(comm) + 1) / 2 ? 0 : 1};
  ranktree::mpi::set_annotation(comm, std::move(annotation));
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
  broadcast_often(busy, comm, 100000, 100);  // a call a turn
  broadcast_often(busy, comm, 2, 60);        // calls that follow each other, and calls apart
  MPI_Comm_free(&busy);
  MPI_Comm_free(&comm);
  if (rank_of(MPI_COMM_WORLD) == 0) std::puts("ok");
  MPI_Finalize();
  return 0;
}
