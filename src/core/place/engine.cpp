#include "core/place/engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/scale.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/dense.h"
#include "core/place/engine/context.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/lattice.h"
#include "core/place/engine/lattice_tiling.h"
#include "core/place/engine/objective.h"
#include "core/place/engine/pipeline.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/engine/start.h"
#include "core/place/engine/structural_order.h"
#include "core/place/exact/exact_search.h"
#include "core/place/network/network_engine.h"
#include "core/place/placement.h"
#include "core/place/seats.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using engine::Context;
using engine::Graph;
using engine::SeatTree;
using pattern::Rank;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] void refuse(Rank rank, const std::string& text) {
  throw Error(Fault::kInput, "pattern: rank " + std::to_string(rank) + ": " + text);
}

double largest_weight(const pattern::Affinity& affinity, Rank first, Rank last) {
  double largest = 0;
  for (Rank rank = first; rank < last; ++rank) {
    for (const double weight : affinity.weights_of(rank)) {
      if (!std::isfinite(weight) || weight < 0) {
        refuse(rank, "expected a finite weight, at least 0, found " + std::to_string(weight));
      }
      largest = std::max(largest, weight);
    }
    for (const Rank other : affinity.neighbours(rank)) {
      if (other >= 0 && other < affinity.ranks) continue;
      refuse(rank,
             "expected a neighbour in 0.." + std::to_string(affinity.ranks - 1) + ", found " + std::to_string(other));
    }
  }
  return largest;
}

double largest_weight(const pattern::Affinity& affinity, Workers& workers) {
  constexpr std::int64_t kBlocks = 16;
  std::array<double, kBlocks> largest{};
  workers.for_each(kBlocks, static_cast<std::int64_t>(affinity.indices.size() / 4), [&](int block) {
    const auto first = static_cast<Rank>(block * std::int64_t{affinity.ranks} / kBlocks);
    const auto last = static_cast<Rank>((block + 1) * std::int64_t{affinity.ranks} / kBlocks);
    largest.at(at(block)) = largest_weight(affinity, first, last);
  });
  return *std::max_element(largest.begin(), largest.end());
}

// Where as many blocks of ranks in an order begin, and the end, so that each has about as many arcs.
std::vector<std::size_t> even_blocks(const pattern::Affinity& affinity, const std::vector<Rank>& order, int blocks) {
  std::vector<std::size_t> begin(at(blocks) + 1, order.size());
  begin.front() = 0;
  std::size_t arcs = 0;
  std::size_t block = 1;
  for (std::size_t i = 0; blocks > 1 && i < order.size(); ++i) {
    while (block < at(blocks) && arcs * at(blocks) >= block * affinity.indices.size()) begin[block++] = i;
    arcs += affinity.neighbours(order[i]).size();
  }
  return begin;
}

// Vertex i is rank order[i]: neighbours near each other in memory. Weights are scaled by a power of two, so that sums
// of the largest doubles stay finite; nothing else changes.
Graph graph_of(const pattern::Affinity& affinity, const std::vector<Rank>& order, double largest, Workers& workers) {
  const double scale = scale_for_sums(largest);
  const std::size_t count = order.size();
  const auto steps = static_cast<std::int64_t>(affinity.indices.size());
  std::vector<engine::Vertex> vertex_of(count);
  for (std::size_t i = 0; i < count; ++i) vertex_of[at(order[i])] = static_cast<engine::Vertex>(i);
  Graph graph;
  graph.size.assign(count, 1);
  // Each vertex tells its neighbours of itself, so that theirs ascend, whatever the numbering: the vertices of each
  // block, whose arcs to one neighbour come after those of the blocks before.
  // By block and neighbour: its arcs, then where the next one goes.
  std::vector<std::vector<std::int64_t>> next(at(workers.threads()));
  const std::vector<std::size_t> begin = even_blocks(affinity, order, workers.threads());
  const auto for_each_arc = [&](std::size_t block, auto tell) {
    for (std::size_t i = begin[block]; i < begin[block + 1]; ++i) {
      const auto neighbours = affinity.neighbours(order[i]);
      const auto weights = affinity.weights_of(order[i]);
      for (std::size_t j = 0; j < neighbours.size(); ++j) {
        if (neighbours[j] == order[i] || weights[j] <= 0) continue;
        tell(at(vertex_of[at(neighbours[j])]), engine::Arc{static_cast<engine::Vertex>(i), weights[j] * scale});
      }
    }
  };
  workers.for_each(workers.threads(), steps, [&](int block) {
    auto& arcs = next[at(block)];
    arcs.assign(count, 0);
    for_each_arc(at(block), [&](std::size_t vertex, const engine::Arc&) { ++arcs[vertex]; });
  });
  graph.offset.resize(count + 1);
  for (std::size_t vertex = 0; vertex < count; ++vertex) {
    std::int64_t end = graph.offset[vertex];
    for (auto& block : next) end += std::exchange(block[vertex], end);
    graph.offset[vertex + 1] = end;
  }
  graph.arcs.resize(at(graph.offset.back()));
  workers.for_each(workers.threads(), steps, [&](int block) {
    auto& place = next[at(block)];
    for_each_arc(at(block), [&](std::size_t vertex, const engine::Arc& arc) { graph.arcs[at(place[vertex]++)] = arc; });
  });
  return graph;
}

constexpr double kClearly = 1 - 1e-6;  // what is cheaper by that is, however sums are rounded

struct Found {
  Placement placement;
  bool better = false;  // than the start, beyond doubt
};

// What is to be placed: vertex i of the graph is rank order[i].
struct Ordered {
  std::vector<Rank> order;
  Graph graph;
  std::optional<engine::Lattice> lattice;
};

// Without arcs where nobody talks.
Ordered put_in_order(const pattern::Affinity& affinity, Workers& workers) {
  Ordered found;
  const double largest = largest_weight(affinity, workers);
  if (largest == 0) return found;
  found.order = engine::structural_order(affinity, workers);
  found.graph = graph_of(affinity, found.order, largest, workers);
  found.lattice = engine::find_lattice(found.graph, workers);
  if (!found.lattice) return found;
  std::vector<Rank> rows;  // row by row, which is the same however ranks are numbered
  rows.reserve(found.order.size());
  for (engine::Vertex& vertex : found.lattice->vertex_at) {
    rows.push_back(found.order[at(vertex)]);
    vertex = static_cast<engine::Vertex>(rows.size()) - 1;
  }
  found.order = std::move(rows);
  found.graph = graph_of(affinity, found.order, largest, workers);
  return found;
}

// `start`: the slot of each rank.
Found place_in_order(const SeatTree& tree, const Ordered& ordered, const EngineOptions& options, Workers& workers,
                     const std::vector<SeatTree::Seat>& start) {
  const Graph& graph = ordered.graph;
  const Context context = engine::context_of(options.preset);
  const engine::ListsOnTree objective(tree, graph, context, workers);
  const engine::Problem problem{tree, objective, ordered.order, context, options.seed, graph.arcs.size()};
  engine::Pipeline pipeline(problem, workers, start);
  auto tiling = ordered.lattice ? engine::tile_lattice(tree, graph, *ordered.lattice) : std::nullopt;
  if (tiling) pipeline.try_from(std::move(tiling->seat_of));
  const bool settled = tiling && tiling->settled && tree.pinned().empty() && options.preset != Preset::kStrong;
  if (!settled) pipeline.try_divisions(engine::guide_of(graph, workers));
  pipeline.try_start();
  if (workers.ask() && graph.vertices() <= exact::kMostRanks) {
    const auto cheapest = exact::cheapest(tree, graph, workers, pipeline.best());
    if (cheapest) pipeline.keep(*cheapest);
  }
  return {engine::placement_of(tree, pipeline.best_of_ranks()),
          pipeline.best_cost() < kClearly * pipeline.start_cost()};
}

Found place_as_lists(const topo::Tree& tree, const pattern::Affinity& affinity, const Placement& start,
                     const EngineOptions& options) {
  Workers workers(options.threads, options.keep_going);
  Ordered ordered;
  std::unique_ptr<SeatTree> seats;
  std::vector<SeatTree::Seat> seat_of;
  workers.for_each(2, static_cast<std::int64_t>(affinity.indices.size()), [&](int i) {
    if (i == 0) {
      ordered = put_in_order(affinity, workers);
    } else {
      seats = std::make_unique<SeatTree>(tree, options.constraints);
      seat_of = engine::seats_of(*seats, start);
    }
  });
  if (ordered.graph.arcs.empty()) return {start};
  return place_in_order(*seats, ordered, options, workers, seat_of);
}

Found place(const topo::Tree& tree, const pattern::Affinity& affinity, const Placement& start,
            const EngineOptions& options) {
  if (tree.interconnect() != nullptr) {
    largest_weight(affinity, 0, affinity.ranks);  // refuses what is no weight
    return {network::place_on_network(tree, affinity, options, start)};
  }
  std::optional<Placement> dense = place_as_matrix(tree, affinity, options);
  return dense ? Found{std::move(*dense)} : place_as_lists(tree, affinity, start, options);
}

}  // namespace

std::optional<Preset> preset_from_name(std::string_view word) {
  if (word == "fast") return Preset::kFast;
  if (word == "default") return Preset::kDefault;
  if (word == "strong") return Preset::kStrong;
  return std::nullopt;
}

Placement run_engine(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options) {
  require_seats(tree, affinity.ranks, options.constraints);
  Placement start = options.start ? *options.start : identity(tree, affinity.ranks, options.constraints);
  if (options.start) engine::check_start(tree, start, affinity.ranks, options.constraints);
  Found found = place(tree, affinity, start, options);
  // Where it is close, compared as evaluate() counts, whose sums round differently.
  const bool better =
      found.better || evaluate(tree, affinity, found.placement).total < evaluate(tree, affinity, start).total;
  if (!better) return start;
  if (options.start && tree.interconnect() == nullptr) engine::stay_home(tree, start, found.placement);
  return std::move(found.placement);
}

}  // namespace ranktree::core::place
