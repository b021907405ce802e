// The peak memory of one rank in the distributed placement of 27-point stencils, on simulated ranks (SimGrid SMPI): all
// ranks live in one process, and every allocation is charged to the rank that made it. See memory.sh.
//
// distributed-memory X Y Z COARSE CORES_PER_NODE [check]: check compares with the same algorithm in one process.
#include <mpi.h>
#include <simgrid/actor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "accounts.h"
#include "core/reorder/distributed.h"
#include "core/reorder/network.h"
#include "core/split/chain.h"
#include "grid.h"
#include "mpi/reorder/modes.h"

namespace {

using ranktree::bench::chain_of;
using ranktree::bench::edges_of;
using ranktree::bench::Grid;
using ranktree::bench::Shuffle;

// Whether rank 0 finds the same result in one process.
bool same_alone(const Grid& grid, const Shuffle& shuffle, int coarse, int cores, const std::vector<int>& found) {
  std::vector<ranktree::bench::Edges> edges;
  std::vector<ranktree::core::reorder::Share> shares;
  for (int rank = 0; rank < grid.size(); ++rank) edges.push_back(edges_of(grid, shuffle, rank));
  for (int rank = 0; rank < grid.size(); ++rank) {
    const auto& own = edges[static_cast<std::size_t>(rank)];
    shares.push_back({own.peers, own.weights, chain_of(rank, cores)});
  }
  ranktree::core::reorder::LoneNetwork network(grid.size());
  ranktree::core::reorder::DistributedOptions options;
  options.engine.preset = ranktree::core::place::Preset::kFast;
  options.coarse_vertices = coarse;
  ranktree::core::reorder::DistributedOrder order;
  order_distributed(network, shares, options, order);
  return order.vertex == found;
}

}  // namespace

std::size_t account_index() { return static_cast<std::size_t>(sg_actor_self_get_pid()); }

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  if (count < 6) return 2;
  open_accounts();
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Grid grid{std::atoi(arguments[1]), std::atoi(arguments[2]), std::atoi(arguments[3])};
  if (grid.size() != size) return 2;
  const Shuffle shuffle(size);
  const int cores = std::atoi(arguments[5]);
  const ranktree::core::split::Chain chain = chain_of(rank, cores);
  const auto edges = edges_of(grid, shuffle, rank);
  const ranktree::mpi::OwnPart own{{edges.peers, edges.weights}, chain};
  ranktree::mpi::ReorderOptions options;
  options.coarse_vertices = std::atoi(arguments[4]);
  // Further attempts, one after the other, take time but no memory.
  options.preset = ranktree::core::place::Preset::kFast;
  Account& account = own_account();
  const std::int64_t start = account.now;
  account.most = account.now;
  MPI_Barrier(MPI_COMM_WORLD);
  ranktree::mpi::Mailbox mailbox(MPI_COMM_WORLD);
  ranktree::mpi::LocalSteps steps(MPI_COMM_WORLD);
  ranktree::mpi::RootBuffers at_root;
  const ranktree::mpi::Search search{MPI_COMM_WORLD, mailbox, steps, at_root, 0};
  const ranktree::mpi::Reordering order = reorder_distributed(search, own, options);
  struct {
    double bytes;
    int rank;
  } held{static_cast<double>(account.most - start), rank}, most{};
  double sum = 0;
  MPI_Reduce(&held, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
  MPI_Reduce(&held.bytes, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  std::vector<int> vertices(rank == 0 ? static_cast<std::size_t>(size) : 0);
  MPI_Gather(&order.vertex, 1, MPI_INT, vertices.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%d ranks, coarse %d: cost %.0f -> %.0f%s%s; held at most %.2f MB (rank %d), %.3f MB on average\n",
                size, options.coarse_vertices, order.before.value_or(0), order.after.value_or(0),
                order.reason.empty() ? "" : ", ", order.reason.c_str(), most.bytes / 1e6, most.rank, sum / size / 1e6);
    if (count > 6) {
      const bool same = same_alone(grid, shuffle, options.coarse_vertices, cores, vertices);
      std::printf("%s\n", same ? "the same order as in one process" : "DIFFERS FROM THE ORDER IN ONE PROCESS");
    }
    std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
