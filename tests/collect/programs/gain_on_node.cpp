// gain_on_node FOLDER: prints, for what is kept about nodes one after another, and then for a later run that reads it
// from FOLDER, whether some call of 4, and of 3, ranks of a node is known not to be native: "0 0".
#include <mpi.h>
#include <sched.h>

#include <cstdio>
#include <string>

#include "mpi/collect/select/learned.h"

namespace {

using ranktree::mpi::collect::Learned;

// As shape_of() begins.
std::string shape(int ranks, int nodes, int cpus) {
  return std::to_string(ranks) + " ranks on " + std::to_string(nodes) + " nodes, " + std::to_string(cpus) +
         " CPUs, Core, order 1";
}

void print(Learned& learned) {
  std::printf("%d %d\n", learned.has_gain_on_node(4) ? 1 : 0, learned.has_gain_on_node(3) ? 1 : 0);
}

void keep_one_after_another(Learned& learned, int cpus) {
  learned.keep(shape(4, 1, cpus), "allreduce 8-16", "native");
  print(learned);
  learned.keep(shape(4, 2, cpus), "allreduce 8-16", "shared:binomial");
  print(learned);
  learned.keep(shape(4, 1, cpus + 1), "allreduce 8-16", "shared:binomial");
  print(learned);
  learned.keep(shape(4, 1, cpus), "broadcast 8-16", "shared:binomial");
  print(learned);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  MPI_Init(&count, &words);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  {
    Learned learned(words[1], "");
    keep_one_after_another(learned, CPU_COUNT(&allowed));
  }
  Learned later(words[1], "");
  print(later);
  MPI_Finalize();
  return 0;
}
