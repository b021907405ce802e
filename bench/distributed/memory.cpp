// What one rank holds at most while 27-point stencils are placed without a centre, on simulated ranks (SimGrid SMPI):
// all ranks live in one process, and every allocation is booked on the rank that made it. See memory.sh.
//
// distributed-memory X Y Z COARSE CORES_PER_NODE [check]: check compares with the same algorithm in one process.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "accounts.h"
#include "core/enforce/distributed.h"
#include "core/enforce/lone_network.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "mpi/reorder.h"

namespace {

using ranktree::core::split::Chain;
using ranktree::core::topo::Kind;

struct Grid {
  int x, y, z;
  [[nodiscard]] int size() const { return x * y * z; }
};

// A permutation of 0 .. size-1 that needs no memory: a mixing of all numbers below the next power of two, walked until
// it comes out inside.
class Shuffle {
 public:
  explicit Shuffle(int size) : size_(static_cast<std::uint32_t>(size)) {
    while ((1U << bits_) < size_) ++bits_;
  }
  [[nodiscard]] int of(int number) const { return walk(number, true); }
  [[nodiscard]] int back(int number) const { return walk(number, false); }

 private:
  [[nodiscard]] int walk(int number, bool forth) const {
    auto value = static_cast<std::uint32_t>(number);
    do {
      value = forth ? mix(value) : unmix(value);
    } while (value >= size_);
    return static_cast<int>(value);
  }
  // Rounds of a Feistel network on the upper and the lower half of the bits; an odd bit stays with the upper half.
  [[nodiscard]] std::uint32_t mix(std::uint32_t value) const {
    for (std::uint32_t round = 0; round < 6; ++round) value = turn(value, round);
    return value;
  }
  [[nodiscard]] std::uint32_t unmix(std::uint32_t value) const {
    for (std::uint32_t round = 6; round-- > 0;) value = turn(value, round);
    return value;
  }
  // Its own inverse: one half is changed by the other.
  [[nodiscard]] std::uint32_t turn(std::uint32_t value, std::uint32_t round) const {
    const std::uint32_t low_bits = bits_ / 2;
    const std::uint32_t low = value & ((1U << low_bits) - 1);
    const std::uint32_t high = value >> low_bits;
    if (round % 2 == 0) {
      const std::uint32_t other = ((low + round) * 0x9e3779b1U ^ 0x5bd1e995U) >> 7U;
      return ((high ^ (other & ((1U << (bits_ - low_bits)) - 1))) << low_bits) | low;
    }
    const std::uint32_t other = ((high + round) * 0x85ebca6bU ^ 0x27d4eb2fU) >> 9U;
    return (high << low_bits) | (low ^ (other & ((1U << low_bits) - 1)));
  }

  std::uint32_t size_;
  std::uint32_t bits_ = 1;
};

ranktree::mpi::VertexEdges edges_of(const Grid& grid, const Shuffle& shuffle, int vertex) {
  const int cell = shuffle.back(vertex);
  const int x = cell / (grid.y * grid.z);
  const int y = cell / grid.z % grid.y;
  const int z = cell % grid.z;
  std::map<int, double> edges;
  for (int step = 0; step < 27; ++step) {
    const int a = x + step / 9 - 1;
    const int b = y + step / 3 % 3 - 1;
    const int c = z + step % 3 - 1;
    const int far = (a != x ? 1 : 0) + (b != y ? 1 : 0) + (c != z ? 1 : 0);
    if (far == 0 || a < 0 || a >= grid.x || b < 0 || b >= grid.y || c < 0 || c >= grid.z) continue;
    edges[shuffle.of((a * grid.y + b) * grid.z + c)] = far == 1 ? 100 : far == 2 ? 10 : 1;
  }
  ranktree::mpi::VertexEdges own;
  for (const auto& [peer, weight] : edges) {
    own.peers.push_back(peer);
    own.weights.push_back(weight);
  }
  return own;
}

Chain chain_of(int rank, int cores) {
  return {{Kind::kNode, rank / cores}, {Kind::kPackage, rank / (cores / 2)}, {Kind::kNumaNode, rank / (cores / 8)}};
}

// Whether rank 0 finds the same in one process.
bool same_alone(const Grid& grid, const Shuffle& shuffle, int coarse, int cores, const std::vector<int>& found) {
  std::vector<ranktree::mpi::VertexEdges> edges;
  std::vector<ranktree::core::enforce::Share> shares;
  for (int rank = 0; rank < grid.size(); ++rank) edges.push_back(edges_of(grid, shuffle, rank));
  for (int rank = 0; rank < grid.size(); ++rank) {
    const auto& own = edges[static_cast<std::size_t>(rank)];
    shares.push_back({own.peers, own.weights, chain_of(rank, cores)});
  }
  ranktree::core::enforce::LoneNetwork network(grid.size());
  ranktree::core::enforce::DistributedOptions options;
  options.coarse_vertices = coarse;
  ranktree::core::enforce::DistributedOrder order;
  order_distributed(network, shares, options, order);
  return order.vertex == found;
}

}  // namespace

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
  const Chain chain = chain_of(rank, cores);
  const ranktree::mpi::VertexEdges own = edges_of(grid, shuffle, rank);
  ranktree::mpi::ReorderOptions options;
  options.coarse_vertices = std::atoi(arguments[4]);
  Account& account = own_account();
  const std::int64_t start = account.now;
  account.most = account.now;
  MPI_Barrier(MPI_COMM_WORLD);
  const ranktree::mpi::Reordering order = reorder_distributed({MPI_COMM_WORLD, &own, &chain, 0}, options);
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
                size, options.coarse_vertices, order.before, order.after, order.reason.empty() ? "" : ", ",
                order.reason.c_str(), most.bytes / 1e6, most.rank, sum / size / 1e6);
    if (count > 6) {
      const bool same = same_alone(grid, shuffle, options.coarse_vertices, cores, vertices);
      std::printf("%s\n", same ? "the same order as in one process" : "DIFFERS FROM THE ORDER IN ONE PROCESS");
    }
    std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
