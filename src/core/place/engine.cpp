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
#include "core/place/engine/divide.h"
#include "core/place/engine/effort.h"
#include "core/place/engine/exact_search.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/lattice.h"
#include "core/place/engine/lattice_tiling.h"
#include "core/place/engine/multisection.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/engine/start.h"
#include "core/place/engine/structural_order.h"
#include "core/place/engine/swap_search.h"
#include "core/place/network/network_engine.h"
#include "core/place/placement.h"
#include "core/place/seats.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using engine::Effort;
using engine::Graph;
using engine::SeatTree;
using pattern::Rank;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Effort effort_of(Preset preset) {
  Effort effort;
  if (preset == Preset::kFast) return effort;
  effort.most_starts = 12;
  effort.passes = 6;
  effort.search_arcs = std::numeric_limits<std::int64_t>::max();
  if (preset == Preset::kDefault) {
    effort.repeats = 2;
    effort.most_repeats = 5;
    effort.even_repeats = 1;
    effort.once = 128;
    effort.annealing = 400;
    effort.even_below = 50;
    effort.anneal_arcs = 4000000;
    effort.anneal_coarser = 3;
    effort.search_passes = 2;
    effort.search_groups = 3;
    effort.runs = 12;
    effort.root_regroupings = 2;
    return effort;
  }
  effort.by_ties = false;
  effort.start_arcs = effort.search_arcs;
  effort.anneal_coarser = 3;
  effort.repeats = 4;
  effort.most_repeats = 18;
  effort.even_repeats = 6;
  effort.alike = 0.01;
  effort.patience = 100;
  effort.patience_share = 0.1;
  effort.pair_rounds = 3;
  effort.even_pair_rounds = 1;
  effort.regroupings = 3;
  effort.annealing = 2000;
  effort.annealing_below = 100;
  effort.anneal_arcs = 35000000;
  effort.search_passes = 20;
  effort.search_groups = 6;
  effort.runs = 16;
  return effort;
}

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

constexpr double kNear = 1.3;
constexpr std::size_t kDense = 96;      // arcs a vertex on average from which ranks are divided by the strongest only
constexpr std::size_t kStrongest = 24;  // these

constexpr double kClearly = 1 - 1e-6;  // what is cheaper by that is, however sums are rounded

struct Found {
  Placement placement;
  bool better = false;  // than the start, beyond doubt
};

class Engine {
 public:
  // Vertex i of the graph is rank order[i].
  Engine(const SeatTree& tree, const Graph& graph, const std::vector<Rank>& order, const EngineOptions& options,
         Workers& workers)
      : tree_(tree),
        graph_(graph),
        order_(order),
        options_(options),
        effort_(effort_of(options.preset)),
        workers_(workers) {
    std::map<Rank, SeatTree::Seat> seat_of;
    for (const SeatTree::Pinned& pinned : tree_.pinned()) seat_of[pinned.rank] = pinned.seat;
    for (std::size_t i = 0; i < order.size() && !seat_of.empty(); ++i) {
      const auto found = seat_of.find(order[i]);
      if (found != seat_of.end()) pinned_.push_back({static_cast<engine::Vertex>(i), found->second});
    }
  }

  // From the seat of each rank.
  Found run(const std::vector<SeatTree::Seat>& start, const std::optional<engine::Lattice>& lattice) {
    best_.reserve(order_.size());
    for (const Rank rank : order_) best_.push_back(start[at(rank)]);
    best_cost_ = engine::cost_of(tree_, graph_, best_, workers_);
    const std::vector<SeatTree::Seat> first = best_;
    const double first_cost = best_cost_;
    if (lattice) effort_.anneal_coarser = 0;  // borders that are straight need not move far
    if (!lattice || !try_tiling(*lattice)) divide();
    // The search alone does not get far: only from a start that is nearly good enough is it worth its time.
    if (std::cmp_less_equal(graph_.arcs.size(), effort_.start_arcs) && workers_.ask() &&
        first_cost < kNear * best_cost_) {
      Candidate candidate{first, first_cost};
      search(candidate, seed_of(options_.seed, 0));
      keep(std::move(candidate));
    }
    if (workers_.ask() && graph_.vertices() <= engine::kExactRanks)
      engine::search_exactly(tree_, graph_, workers_, best_);
    Found found{{std::vector<topo::Leaf>(best_.size())}, best_cost_ < kClearly * first_cost};
    for (std::size_t i = 0; i < best_.size(); ++i) found.placement.leaf_of[at(order_[i])] = tree_.leaf(best_[i]);
    return found;
  }

 private:
  struct Candidate {
    std::vector<SeatTree::Seat> seats;
    double cost = std::numeric_limits<double>::infinity();
  };

  // True when nothing else is worth a try.
  bool try_tiling(const engine::Lattice& lattice) {
    auto tiling = engine::tile_lattice(tree_, graph_, lattice);
    if (!tiling || !workers_.ask()) return false;
    Candidate candidate{std::move(tiling->seat_of)};
    engine::bring_home(tree_, pinned_, candidate.seats);
    search(candidate, seed_of(options_.seed, 0));
    keep(std::move(candidate));
    return tiling->settled && pinned_.empty() && options_.preset != Preset::kStrong;
  }

  void divide() {
    const bool dense = graph_.arcs.size() > kDense * graph_.size.size();
    const Graph sparse = dense ? engine::strongest_arcs(graph_, kStrongest) : Graph{};
    try_divisions(engine::guide_of(dense ? sparse : graph_, workers_));
  }

  // Small graphs can afford several divisions in the time that a large one takes for its first.
  [[nodiscard]] int runs() const {
    constexpr std::size_t kSmall = 1400;  // arcs with which all runs are affordable
    const auto affordable = static_cast<int>(kSmall * at(effort_.runs) / (graph_.arcs.size() + 1));
    return std::clamp(affordable, 1, effort_.runs);
  }

  // Every run packs the ranks; with seats to spare, another spreads them. The first of the cheapest is kept.
  void try_divisions(const engine::Piece& guide) {
    const int spreads = graph_.vertices() < tree_.seats() ? 2 : 1;
    std::vector<Candidate> candidates(at(spreads) * at(runs()));
    const auto steps = static_cast<std::int64_t>(candidates.size() * graph_.arcs.size()) * 10 * effort_.repeats;
    workers_.for_each(static_cast<int>(candidates.size()), steps, [&](int i) {
      if (!workers_.ask()) return;
      const auto spread = i % spreads == 0 ? engine::Spread::kPacked : engine::Spread::kLoose;
      const std::uint64_t seed = seed_of(options_.seed, 1 + static_cast<std::uint64_t>(i));
      Effort effort = effort_;
      // What is cut above is not all.
      if (i / spreads % 2 == 1) effort.annealing = effort.annealing_below = effort.even_below = 0;
      candidates[at(i)].seats = engine::Multisection(tree_, effort, spread, workers_).place(guide, seed_of(seed, 0));
      engine::bring_home(tree_, pinned_, candidates[at(i)].seats);
      search(candidates[at(i)], seed_of(seed, 1));
    });
    for (Candidate& candidate : candidates) keep(std::move(candidate));
  }

  void search(Candidate& candidate, std::uint64_t seed) {
    if (std::cmp_less_equal(graph_.arcs.size(), effort_.search_arcs))
      engine::search_by_swaps(tree_, graph_, effort_, seed, workers_, candidate.seats);
    candidate.cost = engine::cost_of(tree_, graph_, candidate.seats, workers_);
  }

  void keep(Candidate candidate) {
    if (candidate.cost >= best_cost_) return;
    best_cost_ = candidate.cost;
    best_ = std::move(candidate.seats);
  }

  const SeatTree& tree_;
  const Graph& graph_;
  const std::vector<Rank>& order_;
  const EngineOptions& options_;
  Effort effort_;
  Workers& workers_;
  std::vector<SeatTree::Pinned> pinned_;  // vertices, not ranks
  std::vector<SeatTree::Seat> best_;
  double best_cost_ = 0;
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
  return Engine(*seats, ordered.graph, ordered.order, options, workers).run(seat_of, ordered.lattice);
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

std::vector<SeatTree::Seat> engine::divide(const SeatTree& tree, const Graph& guide, const EngineOptions& options,
                                           DivisionKind kind, std::uint64_t seed) {
  Effort effort = effort_of(options.preset);
  // Of a guide only; exchanges on the whole pattern decide.
  effort.annealing = effort.annealing_below = effort.even_below = 0;
  effort.by_ties = false;
  effort.root_regroupings = 0;
  if (kind.repeats == Repeats::kNone) {
    effort.repeats = effort.most_repeats = 1;
    effort.regroupings = 0;
  }
  effort.even_repeats = effort.most_repeats;
  effort.even_pair_rounds = effort.pair_rounds;
  Workers workers(options.threads, options.keep_going);
  const Spread spread = kind.loose ? Spread::kLoose : Spread::kPacked;
  return Multisection(tree, effort, spread, workers).place(guide_of(guide, workers), seed);
}

}  // namespace ranktree::core::place
