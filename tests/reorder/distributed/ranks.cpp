// reorder_distributed() on a machine that does not exist: every rank gets its slot as input.
//
// distributed_ranks GRAPH COARSE [late | asymmetric RANK]: checks on every rank that the answer is that of the same
// algorithm in one process, and prints "before after vertices..." at rank 0. late: the time is up before it starts.
// asymmetric: that rank leaves out its last edge. In both cases nothing may move, and all ranks must give one reason.
#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/reorder/distributed.h"
#include "core/reorder/network.h"
#include "core/split/chain.h"
#include "distributed/graphs.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/reorder/modes.h"

namespace ranktree::test {
namespace {

using core::pattern::Affinity;

struct Ranks {
  int own = 0;
  int all = 1;
};

Affinity graph_named(const std::string& name, int ranks) {
  if (name == "ring") return stencil(ranks, 1, 1, false, 5);
  if (name == "random") return random_graph(ranks, 3 * ranks, 7);
  if (name == "pairs") {  // the heavy pairs are as far apart as can be
    Edges edges;
    for (int rank = 0; rank < ranks; ++rank) edges[{rank, (rank + 1) % ranks}] += ranks > 1 ? 1 : 0;
    for (int rank = 0; rank < ranks / 2; ++rank) edges[{rank, rank + ranks / 2}] += 1000;
    if (ranks == 1) edges.clear();
    return from_edges(ranks, edges);
  }
  return from_edges(ranks, {});
}

core::reorder::DistributedOrder expected_order(const Affinity& affinity, const std::vector<core::split::Chain>& chains,
                                               int coarse) {
  std::vector<core::reorder::Share> shares;
  for (int rank = 0; rank < affinity.ranks; ++rank) {
    shares.push_back({affinity.neighbours(rank), affinity.weights_of(rank), chains[place_of(rank)]});
  }
  core::reorder::DistributedOptions options;
  options.coarse_vertices = coarse;
  options.engine.preset = core::place::Preset::kFast;
  core::reorder::LoneNetwork network(affinity.ranks);
  core::reorder::DistributedOrder order;
  order_distributed(network, shares, options, order);
  return order;
}

// Whether the text is the same on all ranks as on rank 0.
bool same_on_all(std::string_view own) {
  std::vector<char> text(512, 0);
  own.copy(text.data(), text.size() - 1);
  std::vector<char> first = text;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  int same = first == text ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same == 1;
}

bool check_stopped(const mpi::Reordering& found, const Ranks& ranks) {
  // Both errors come before anything is counted.
  int good = found.vertex == ranks.own && !found.before && !found.after && !found.reason.empty() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!same_on_all(found.reason.view())) good = 0;
  if (ranks.own == 0) std::cout << (good == 1 ? "stopped: " : "WRONG: ") << found.reason.view() << '\n';
  return good == 1;
}

bool check_order(const mpi::Reordering& found, const core::reorder::DistributedOrder& expected, const Ranks& ranks) {
  int good = found.vertex == expected.vertex[place_of(ranks.own)] && found.before == expected.before &&
                     found.after == expected.after && found.reason.empty() == (found.after < found.before)
                 ? 1
                 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  std::vector<int> vertices(place_of(ranks.all));
  MPI_Gather(&found.vertex, 1, MPI_INT, vertices.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (ranks.own != 0) return good == 1;
  std::cout << (good == 1 ? "" : "WRONG: ") << *found.before << ' ' << *found.after;
  for (const int vertex : vertices) std::cout << ' ' << vertex;
  std::cout << '\n';
  return good == 1;
}

int run(const std::vector<std::string>& words) {
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.own);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.all);
  const Affinity affinity = graph_named(words[0], ranks.all);
  const auto chains = machine_chains({4, 2, (ranks.all + 7) / 8}, ranks.all, true);
  const std::string trouble = words.size() > 2 ? words[2] : "";
  const auto peers = affinity.neighbours(ranks.own);
  const auto weights = affinity.weights_of(ranks.own);
  mpi::OwnPart own{{{peers.begin(), peers.end()}, {weights.begin(), weights.end()}}, chains[place_of(ranks.own)]};
  if (trouble == "asymmetric" && ranks.own == std::stoi(words[3])) {
    own.edges.peers.pop_back();
    own.edges.weights.pop_back();
  }
  mpi::Mailbox mailbox(MPI_COMM_WORLD);
  mpi::LocalSteps steps(MPI_COMM_WORLD);
  mpi::RootBuffers buffers;
  const double deadline = trouble == "late" ? 1e-9 : 0;  // some MPIs count from the first call
  const mpi::Search search{MPI_COMM_WORLD, mailbox, steps, buffers, deadline};
  mpi::ReorderOptions options;
  options.coarse_vertices = std::stoi(words[1]);
  options.preset = core::place::Preset::kFast;  // one attempt: what repeats is the same
  const mpi::Reordering found = reorder_distributed(search, own, options);
  if (!trouble.empty()) return check_stopped(found, ranks) ? 0 : 1;
  return check_order(found, expected_order(affinity, chains, options.coarse_vertices), ranks) ? 0 : 1;
}

}  // namespace
}  // namespace ranktree::test

int main(int count, char** arguments) {
  const ranktree::mpi::Session session(&count, &arguments);
  ranktree::mpi::return_errors();
  return ranktree::test::run({arguments + 1, arguments + count});
}
