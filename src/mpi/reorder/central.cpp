#include "mpi/reorder/modes.h"

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/objective/graph_order.h"
#include "core/pattern/affinity.h"
#include "core/reorder/slots.h"
#include "core/topo/tree.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/reorder/calls.h"
#include "mpi/reorder/options.h"
#include "mpi/reorder/root.h"

namespace ranktree::mpi {
namespace {

using core::pattern::Affinity;
using core::reorder::Slots;

// All edges, at the root.
struct GatheredGraph {
  Affinity graph;
  std::vector<int> lengths;  // by rank, as MPI_Gatherv takes them
  std::vector<int> offsets;

  explicit GatheredGraph(const RootBuffers& buffers) {
    std::int64_t total = 0;
    for (const RankReport& report : buffers.reports) {
      offsets.push_back(static_cast<int>(total));
      lengths.push_back(static_cast<int>(report.edges));
      total += report.edges;
      graph.indptr.push_back(total);
      if (total <= INT_MAX) continue;
      throw core::Error(core::Fault::kUnsupported,
                        "edges at one rank: expected at most " + std::to_string(INT_MAX) + ", found more");
    }
    graph.ranks = static_cast<int>(lengths.size());
    graph.indices.resize(static_cast<std::size_t>(total));
    graph.weights.resize(static_cast<std::size_t>(total));
  }
};

// Collective: numbers of all ranks, `into` at the root.
template <typename Number>
void gather(MPI_Comm comm, const std::vector<Number>& own, MPI_Datatype type, std::vector<Number>* into,
            const GatheredGraph* all) {
  const auto length = static_cast<int>(own.size());
  check(PMPI_Gatherv(own.data(), length, type, into != nullptr ? into->data() : nullptr,
                     all != nullptr ? all->lengths.data() : nullptr, all != nullptr ? all->offsets.data() : nullptr,
                     type, kRoot, comm),
        "MPI_Gatherv");
}

core::topo::Tree priced(const core::topo::Tree& tree, const LevelCosts& costs) {
  std::vector<double> of_levels{0};  // the root's: set to the next one's, for ranks of one node
  for (const auto& level : core::reorder::levels_of(tree)) of_levels.push_back(costs.at(level));
  if (of_levels.size() > 1) of_levels.front() = of_levels[1];
  return tree.with_costs(of_levels);
}

// Answers for all ranks: `kind` is whether the time is up.
void place(const Affinity& graph, const Search& search, const ReorderOptions& options, const LevelCosts* costs) {
  const Slots slots = core::reorder::slots_of(chains_of(search.buffers));
  const core::topo::Tree tree = costs != nullptr ? priced(slots.tree, *costs) : slots.tree;
  const auto in_time = [&] { return search.deadline == 0 || PMPI_Wtime() < search.deadline; };
  const core::objective::GraphOptions how = graph_options(options, in_time);
  const core::objective::GraphOrder order =
      options.pattern.empty()
          ? core::objective::order_for_graph(tree, graph, slots.home, how)
          : core::objective::order_for_pattern(tree, load_pattern(options.pattern, graph.ranks), slots.home, how);
  const std::vector<core::topo::Leaf>& leaf_of = order.placement.leaf_of;
  const std::int64_t late = in_time() ? 0 : 1;
  for (std::size_t vertex = 0; vertex < leaf_of.size(); ++vertex) {
    const auto process = slots.rank_at_slot[static_cast<std::size_t>(leaf_of[vertex])];
    search.buffers.answers[static_cast<std::size_t>(process)] = {order.before, order.after,
                                                                 static_cast<std::int32_t>(vertex), 0, late};
  }
}

}  // namespace

Reordering reorder_at_root(const Search& search, const OwnPart& own, const ReorderOptions& options,
                           const LevelCosts* costs) {
  MPI_Comm comm = search.comm;
  LocalSteps& steps = search.steps;
  RankAnswer answer;
  {
    std::unique_ptr<GatheredGraph> all;  // at the root
    int merged = gather_reports(comm, steps, own.chain, own.edges.peers.size(), search.buffers);
    const bool is_root = !search.buffers.reports.empty();
    if (is_root && merged == 0) {
      steps.run([&] { all = std::make_unique<GatheredGraph>(search.buffers); });
      merged = steps.word();
    }
    check(PMPI_Bcast(&merged, 1, MPI_INT, kRoot, comm), "MPI_Bcast");
    steps.require(merged);
    gather(comm, own.edges.peers, MPI_INT, is_root ? &all->graph.indices : nullptr, all.get());
    gather(comm, own.edges.weights, MPI_DOUBLE, is_root ? &all->graph.weights : nullptr, all.get());
    if (is_root) steps.run([&] { place(all->graph, search, options, costs); });
    answer = receive_answer(comm, steps, merged, search.buffers);
  }
  Reordering result{answer.vertex, answer.before, answer.after, {}};
  if (!(answer.after < answer.before)) result.reason = answer.kind != 0 ? too_late(options) : no_better_order();
  return result;
}

Reordering reorder_central(const Search& search, const OwnPart& own, const ReorderOptions& options) {
  return reorder_at_root(search, own, options, nullptr);
}

}  // namespace ranktree::mpi
