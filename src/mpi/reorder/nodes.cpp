// Each node reorders its own ranks (treematch-2013 §2.3). What leaves a node costs the same whichever of the node's
// ranks it leaves from, so only the edges inside it matter.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/reorder/positions.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/reorder/central.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/options.h"
#include "mpi/split/chains.h"
#include "mpi/split/fetch.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;

// A level with its price, as it travels.
struct PricedLevel {
  std::int32_t kind = 0;
  std::int32_t number = 0;
  double cost = 0;
};

// What levels cost on the whole machine, and what pairs pay that share nothing.
struct Prices {
  LevelCosts of_levels;
  double of_root = 0;

  [[nodiscard]] double distance(const Chain& a, const Chain& b) const {
    const auto limit = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
    const auto shared = std::mismatch(a.begin(), a.begin() + limit, b.begin()).first - a.begin();
    if (shared == 0) return of_root;
    return of_levels.at(core::reorder::levels_of(Chain(a.begin(), a.begin() + shared)).back());
  }
};

std::vector<PricedLevel> price(const std::vector<Chain>& chains) {
  const core::topo::Tree tree = core::reorder::positions_of(chains).tree;
  std::vector<PricedLevel> levels{{0, -1, tree.cost(0)}};
  int index = 1;
  for (const auto& [kind, number] : core::reorder::levels_of(tree)) {
    levels.push_back({static_cast<std::int32_t>(kind), number, tree.cost(index++)});
  }
  return levels;
}

// Collective: the levels of all ranks' chains together.
Prices learn_prices(const ReorderInput& input, int rank) {
  std::vector<PricedLevel> levels;
  {
    std::vector<Chain> chains = gather_chains(input.comm, *input.chain, 0);
    attempt_together(input.comm, [&] {
      if (rank == 0) levels = price(chains);
    });
  }
  auto count = static_cast<int>(levels.size());
  check(MPI_Bcast(&count, 1, MPI_INT, 0, input.comm), "MPI_Bcast");
  attempt_together(input.comm, [&] { levels.resize(static_cast<std::size_t>(count)); });
  check(MPI_Bcast(levels.data(), count * static_cast<int>(sizeof(PricedLevel)), MPI_BYTE, 0, input.comm), "MPI_Bcast");
  Prices prices;
  attempt_together(input.comm, [&] {
    for (const auto& [kind, number, cost] : levels) {
      if (number < 0) {
        prices.of_root = cost;
      } else {
        prices.of_levels[{static_cast<core::topo::Kind>(kind), number}] = cost;
      }
    }
  });
  return prices;
}

// Equal on all ranks: a sum that only one rank makes.
double sum_of_all(MPI_Comm comm, double own) {
  double sum = 0;
  check(MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm), "MPI_Reduce");
  check(MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, comm), "MPI_Bcast");
  return sum;
}

// Collective.
double own_cost(const ReorderInput& input, const Prices& prices) {
  const VertexEdges& own = *input.own;
  std::set<int> peers;
  attempt_together(input.comm, [&] { peers.insert(own.peers.begin(), own.peers.end()); });
  const auto chains = fetch_chains(input.comm, *input.chain, peers);
  double cost = 0;
  attempt_together(input.comm, [&] {
    for (std::size_t i = 0; i < own.peers.size(); ++i) {
      cost += own.weights[i] * prices.distance(*input.chain, chains.at(own.peers[i]));
    }
  });
  return cost;
}

// The ranks whose chains begin alike down to the node, in the order of input.comm. Two splits, for a colour has 31 bits
// and the beginning's hash 62.
Communicator ranks_of_node(const ReorderInput& input) {
  std::uint64_t hash = 1;
  for (const auto& link : *input.chain) {
    hash = mix(hash, core::split::code_of(link));
    if (link.kind == core::topo::Kind::kNode) break;
  }
  constexpr std::uint64_t kColor = 0x7fffffffU;
  Communicator rough;
  Communicator node;
  check(MPI_Comm_split(input.comm, static_cast<int>((hash >> 1U) & kColor), 0, rough.receive()), "MPI_Comm_split");
  check(MPI_Comm_split(rough.get(), static_cast<int>((hash >> 32U) & kColor), 0, node.receive()), "MPI_Comm_split");
  return node;
}

// The edges inside the node, with the node's numbers.
VertexEdges inside(const VertexEdges& own, const std::vector<int>& members) {
  VertexEdges kept;
  for (std::size_t i = 0; i < own.peers.size(); ++i) {
    const auto member = std::lower_bound(members.begin(), members.end(), own.peers[i]);
    if (member == members.end() || *member != own.peers[i]) continue;
    kept.peers.push_back(static_cast<int>(member - members.begin()));
    kept.weights.push_back(own.weights[i]);
  }
  return kept;
}

}  // namespace

Reordering reorder_in_nodes(const ReorderInput& input, const ReorderOptions& options) {
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(input.comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(input.comm, &size), "MPI_Comm_size");
  const Prices prices = learn_prices(input, rank);
  const double before = sum_of_all(input.comm, own_cost(input, prices)) / 2;

  const Communicator node = ranks_of_node(input);
  int members_count = 0;
  int node_rank = 0;
  check(MPI_Comm_size(node.get(), &members_count), "MPI_Comm_size");
  check(MPI_Comm_rank(node.get(), &node_rank), "MPI_Comm_rank");
  std::vector<int> members;
  attempt_together(input.comm, [&] { members.resize(static_cast<std::size_t>(members_count)); });
  check(MPI_Allgather(&rank, 1, MPI_INT, members.data(), 1, MPI_INT, node.get()), "MPI_Allgather");
  VertexEdges edges;
  attempt_together(input.comm, [&] { edges = inside(*input.own, members); });
  const ReorderInput of_node{node.get(), &edges, input.chain, input.deadline};
  Reordering own;
  attempt_together(input.comm, [&] { own = reorder_at_root(of_node, options, &prices.of_levels); });

  const double saved = sum_of_all(input.comm, node_rank == 0 ? own.before.value_or(0) - own.after.value_or(0) : 0);
  Reordering result;
  result.vertex = members[static_cast<std::size_t>(own.vertex)];
  result.before = before;
  result.after = std::min(before, before - saved);
  // Where no node has changed anything: what the first one says.
  if (saved <= 0) result.reason = share(input.comm, {MPI_ERR_OTHER, own.reason}).text;
  return result;
}

}  // namespace ranktree::mpi
