#include "mpi/reorder/central.h"

#include <mpi.h>

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/reorder/positions.h"
#include "core/split/chain.h"
#include "core/topo/tree.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/reorder/modes.h"
#include "mpi/split/chains.h"
#include "mpi/text.h"
#include "mpi/wait.h"

namespace ranktree::mpi {
namespace {

using core::pattern::Affinity;
using core::reorder::Positions;
using core::split::Chain;

constexpr int kRoot = 0;

// Lengths and offsets of what the ranks send, as MPI_Gatherv takes them.
struct Shares {
  std::vector<int> lengths;
  std::vector<int> offsets;

  [[nodiscard]] std::size_t total() const {
    return lengths.empty() ? 0 : static_cast<std::size_t>(offsets.back()) + static_cast<std::size_t>(lengths.back());
  }
};

Shares shares_of(std::span<const int> lengths, const char* what) {
  const auto total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (total > INT_MAX) {
    throw core::Error(core::Fault::kUnsupported, std::string(what) + " at one rank: expected at most " +
                                                     std::to_string(INT_MAX) + ", found " + std::to_string(total));
  }
  Shares shares{{lengths.begin(), lengths.end()}, std::vector<int>(lengths.size())};
  std::exclusive_scan(lengths.begin(), lengths.end(), shares.offsets.begin(), 0);
  return shares;
}

// Everything there is to know, at the root; nothing elsewhere.
struct Whole {
  Shares of_edges;
  Affinity graph;
  std::vector<Chain> chains;  // by rank

  void make_room(std::span<const int> edges) {
    of_edges = shares_of(edges, "edges");
    graph.ranks = static_cast<int>(edges.size());
    graph.indptr.assign(of_edges.offsets.begin(), of_edges.offsets.end());
    graph.indptr.push_back(static_cast<std::int64_t>(of_edges.total()));
    graph.indices.resize(of_edges.total());
    graph.weights.resize(of_edges.total());
  }
};

// Collective. Throws AgreedError where the root has not room enough. Even an empty graph takes memory: there is one
// from the first agreed step on.
std::unique_ptr<Whole> gather(const ReorderInput& input) {
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(input.comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(input.comm, &size), "MPI_Comm_size");
  const VertexEdges& own = *input.own;
  const auto degree = static_cast<int>(own.peers.size());
  std::unique_ptr<Whole> all;
  std::vector<int> degrees;
  attempt_together(input.comm, [&] {
    all = std::make_unique<Whole>();
    degrees.resize(rank == kRoot ? static_cast<std::size_t>(size) : 0);
  });
  check(MPI_Gather(&degree, 1, MPI_INT, degrees.data(), 1, MPI_INT, kRoot, input.comm), "MPI_Gather");
  attempt_together(input.comm, [&] {
    if (rank == kRoot) all->make_room(degrees);
  });
  check(MPI_Gatherv(own.peers.data(), degree, MPI_INT, all->graph.indices.data(), all->of_edges.lengths.data(),
                    all->of_edges.offsets.data(), MPI_INT, kRoot, input.comm),
        "MPI_Gatherv");
  check(MPI_Gatherv(own.weights.data(), degree, MPI_DOUBLE, all->graph.weights.data(), all->of_edges.lengths.data(),
                    all->of_edges.offsets.data(), MPI_DOUBLE, kRoot, input.comm),
        "MPI_Gatherv");
  all->chains = gather_chains(input.comm, *input.chain, kRoot);
  return all;
}

core::topo::Tree priced(const core::topo::Tree& tree, const LevelCosts& costs) {
  std::vector<double> of_levels{0};  // the root's: set to the next one's, ranks that meet there are of one node
  for (const auto& level : core::reorder::levels_of(tree)) of_levels.push_back(costs.at(level));
  if (of_levels.size() > 1) of_levels.front() = of_levels[1];
  return tree.with_costs(of_levels);
}

// What the root finds: the new rank of each process.
struct Answer {
  std::vector<int> vertex_of;
  double before = 0;
  double after = 0;
  bool late = false;
};

Answer place(const Whole& all, const ReorderInput& input, const ReorderOptions& options, const LevelCosts* costs) {
  const Positions positions = core::reorder::positions_of(all.chains);
  const core::topo::Tree tree = costs != nullptr ? priced(positions.tree, *costs) : positions.tree;
  const auto in_time = [&] { return input.deadline == 0 || MPI_Wtime() < input.deadline; };
  core::place::EngineOptions engine;
  engine.preset = options.preset;
  engine.seed = options.seed;
  engine.start = positions.home;
  engine.keep_going = in_time;
  Answer answer;
  answer.before = answer.after = evaluate(tree, all.graph, positions.home).total;
  answer.vertex_of.resize(positions.rank_at_leaf.size());
  std::iota(answer.vertex_of.begin(), answer.vertex_of.end(), 0);
  if (in_time()) {
    const core::place::Placement best = run_engine(tree, all.graph, engine);
    const double after = evaluate(tree, all.graph, best).total;
    if (in_time() && after < answer.before) {
      answer.after = after;
      for (std::size_t vertex = 0; vertex < best.leaf_of.size(); ++vertex) {
        const int process = positions.rank_at_leaf[static_cast<std::size_t>(best.leaf_of[vertex])];
        answer.vertex_of[static_cast<std::size_t>(process)] = static_cast<int>(vertex);
      }
    }
  }
  answer.late = !in_time();
  return answer;
}

Text reason_of(const Answer& answer, const ReorderOptions& options) {
  if (answer.after < answer.before) return {};
  return answer.late ? too_late(options) : no_better_order();
}

}  // namespace

Reordering reorder_at_root(const ReorderInput& input, const ReorderOptions& options, const LevelCosts* costs) {
  Reordering result;
  int rank = 0;
  check(MPI_Comm_rank(input.comm, &rank), "MPI_Comm_rank");
  Answer answer;
  {
    const std::unique_ptr<Whole> all = gather(input);
    const Failure failure = attempt([&] {
      if (rank == kRoot) answer = place(*all, input, options, costs);
    });
    wait_for_all(input.comm);
    throw_together(input.comm, failure);
  }
  std::array<double, 3> found{answer.before, answer.after, answer.late ? 1.0 : 0.0};
  check(MPI_Bcast(found.data(), static_cast<int>(found.size()), MPI_DOUBLE, kRoot, input.comm), "MPI_Bcast");
  check(MPI_Scatter(answer.vertex_of.data(), 1, MPI_INT, &result.vertex, 1, MPI_INT, kRoot, input.comm), "MPI_Scatter");
  result.before = answer.before = found[0];
  result.after = answer.after = found[1];
  answer.late = found[2] != 0;
  result.reason = reason_of(answer, options);
  return result;
}

Reordering reorder_central(const ReorderInput& input, const ReorderOptions& options) {
  return reorder_at_root(input, options, nullptr);
}

}  // namespace ranktree::mpi
