// Each node reorders its own ranks (treematch-2013 §2.3). What leaves a node costs the same whichever of the node's
// ranks it leaves from, so only the edges inside it matter.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/reorder/slots.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/exchange.h"
#include "mpi/handle.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/options.h"
#include "mpi/reorder/root.h"
#include "mpi/split/chains.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;

// A level with its price, as it travels.
struct PricedLevel {
  std::int32_t kind = 0;
  std::int32_t number = 0;
  double cost = 0;
};

// The levels of all ranks' chains together, the root first; plain bytes, so that none has to be allocated.
struct PriceList {
  static constexpr std::size_t kMost = 256;
  std::int32_t word = 0;  // LocalSteps::word(), merged
  std::int32_t count = 0;
  std::array<PricedLevel, kMost> levels{};

  void add(const PricedLevel& level) {
    if (static_cast<std::size_t>(count) == kMost) {
      throw core::Error(core::Fault::kUnsupported, "levels: expected at most " + std::to_string(kMost));
    }
    levels[static_cast<std::size_t>(count++)] = level;
  }
};

void price(const std::vector<Chain>& chains, PriceList& list) {
  const core::topo::Tree tree = core::reorder::slots_of(chains).tree;
  list.add({0, -1, tree.cost(0)});
  int index = 1;
  for (const auto& [kind, number] : core::reorder::levels_of(tree)) {
    list.add({static_cast<std::int32_t>(kind), number, tree.cost(index++)});
  }
}

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

// Collective. Throws AgreedError where a rank has failed before.
PriceList learn_prices(const Search& search, const Chain& chain) {
  PriceList list;
  list.word = gather_reports(search.comm, search.steps, chain, 0, search.buffers);
  if (list.word == 0 && !search.buffers.reports.empty()) {
    search.steps.run([&] { price(chains_of(search.buffers), list); });
    list.word = search.steps.word();
  }
  check(PMPI_Bcast(&list, sizeof list, MPI_BYTE, kRoot, search.comm), "MPI_Bcast");
  search.steps.require(list.word);
  return list;
}

Prices prices_of(const PriceList& list) {
  Prices prices;
  for (const auto& [kind, number, cost] : std::span(list.levels).first(static_cast<std::size_t>(list.count))) {
    if (number < 0) {
      prices.of_root = cost;
    } else {
      prices.of_levels[{static_cast<core::topo::Kind>(kind), number}] = cost;
    }
  }
  return prices;
}

// Collective: hops x weight of the edges of the calling rank's vertex. Both ends of an edge know of it, so that every
// rank gets the chains that it needs.
double own_cost(const Search& search, const OwnPart& own, const Prices& prices) {
  Messages messages;
  search.steps.run([&] {
    for (const int peer : own.edges.peers) messages.emplace(peer, bytes_of(own.chain));
  });
  const Messages received = exchange(search.mailbox, search.steps, messages);
  double cost = 0;
  search.steps.run([&] {
    for (std::size_t i = 0; i < own.edges.peers.size(); ++i) {
      cost += own.edges.weights[i] * prices.distance(own.chain, chain_of(received.at(own.edges.peers[i])));
    }
  });
  return cost;
}

// The ranks whose chains begin alike down to the node, in the order of `comm`. Two splits, for a colour has 31 bits and
// the beginning's hash 62.
Communicator ranks_of_node(MPI_Comm comm, const Chain& chain) {
  std::uint64_t hash = 1;
  for (const auto& link : chain) {
    hash = mix(hash, core::split::code_of(link));
    if (link.kind == core::topo::Kind::kNode) break;
  }
  constexpr std::uint64_t kColor = 0x7fffffffU;
  Communicator rough;
  Communicator node;
  check(PMPI_Comm_split(comm, static_cast<int>((hash >> 1U) & kColor), 0, rough.receive()), "MPI_Comm_split");
  check(PMPI_Comm_split(rough.get(), static_cast<int>((hash >> 32U) & kColor), 0, node.receive()), "MPI_Comm_split");
  return node;
}

// A communicator and a part of it. Ranks of the part ascend with those of the whole.
class Numbers {
 public:
  Numbers(MPI_Comm whole, MPI_Comm part) {
    check(PMPI_Comm_group(whole, whole_.receive()), "MPI_Comm_group");
    check(PMPI_Comm_group(part, part_.receive()), "MPI_Comm_group");
  }
  // The edges inside the part, with its numbers.
  [[nodiscard]] VertexEdges inside(const VertexEdges& own) const {
    std::vector<int> ranks(own.peers.size());
    check(PMPI_Group_translate_ranks(whole_.get(), static_cast<int>(ranks.size()), own.peers.data(), part_.get(),
                                     ranks.data()),
          "MPI_Group_translate_ranks");
    VertexEdges kept;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] == MPI_UNDEFINED) continue;
      kept.peers.push_back(ranks[i]);
      kept.weights.push_back(own.weights[i]);
    }
    return kept;
  }
  [[nodiscard]] int in_whole(int rank) const {
    int translated = 0;
    check(PMPI_Group_translate_ranks(part_.get(), 1, &rank, whole_.get(), &translated), "MPI_Group_translate_ranks");
    return translated;
  }

 private:
  Group whole_;
  Group part_;
};

// The sums over all ranks, equal everywhere as one rank makes them.
struct Totals {
  double cost = 0;    // each edge twice
  double saved = 0;   // by nodes
  double failed = 0;  // ranks
};

Totals sum_of_all(MPI_Comm comm, const Totals& own) {
  constexpr int kCount = sizeof(Totals) / sizeof(double);
  Totals sum;
  check(PMPI_Reduce(&own, &sum, kCount, MPI_DOUBLE, MPI_SUM, kRoot, comm), "MPI_Reduce");
  check(PMPI_Bcast(&sum, kCount, MPI_DOUBLE, kRoot, comm), "MPI_Bcast");
  return sum;
}

// Collective over the node: the new order inside it. What fails counts as a step of search.comm.
Reordering reorder_one(const Search& search, const Search& of_node, const OwnPart& inside,
                       const ReorderOptions& options, const Prices& prices) {
  of_node.steps.fail(search.steps.failure());
  try {
    return reorder_at_root(of_node, inside, options, &prices.of_levels);
  } catch (const AgreedError& error) {
    search.steps.fail(current_failure());
    return {};
  }
}

}  // namespace

Reordering reorder_in_nodes(const Search& search, const OwnPart& own, const ReorderOptions& options) {
  const Communicator node = ranks_of_node(search.comm, own.chain);
  const Numbers numbers(search.comm, node.get());
  Mailbox of_node(node.get());
  LocalSteps node_steps(node.get());
  int node_rank = 0;
  int node_size = 0;
  check(PMPI_Comm_rank(node.get(), &node_rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(node.get(), &node_size), "MPI_Comm_size");
  RootBuffers node_buffers;
  search.steps.run([&] {
    if (node_rank == kRoot) node_buffers = RootBuffers(node_size);
  });

  const PriceList list = learn_prices(search, own.chain);
  Prices prices;
  search.steps.run([&] { prices = prices_of(list); });
  const double cost = own_cost(search, own, prices);
  OwnPart inside;
  search.steps.run([&] { inside = {numbers.inside(own.edges), own.chain}; });
  const Search within{node.get(), of_node, node_steps, node_buffers, search.deadline};
  Reordering found = reorder_one(search, within, inside, options, prices);

  const double saved = node_rank == kRoot ? found.before.value_or(0) - found.after.value_or(0) : 0;
  const Totals sum = sum_of_all(search.comm, {cost, saved, search.steps.failed() ? 1.0 : 0.0});
  if (sum.failed > 0) search.steps.agree();
  Reordering result{numbers.in_whole(found.vertex), sum.cost / 2, std::min(sum.cost / 2, sum.cost / 2 - sum.saved), {}};
  if (sum.saved > 0) return result;
  // Where no node has changed anything: the first rank's reason.
  check(PMPI_Bcast(&found.reason, sizeof found.reason, MPI_BYTE, kRoot, search.comm), "MPI_Bcast");
  result.reason = found.reason;
  return result;
}

}  // namespace ranktree::mpi
