#include "core/place/engine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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
#include "core/place/engine/multisection.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/engine/swap_search.h"
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
  switch (preset) {
    case Preset::kFast:
      return {40, 2, 1, 2, 25, 0.005, 0, 1, 1, 1};
    case Preset::kDefault:
      return {40, 2, 3, 3, 40, 0.02, 0, 4, 3, 2};
    case Preset::kStrong:
      break;
  }
  return {40, 2, 7, 3, 60, 0.1, 3, 20, 6, 4};
}

[[noreturn]] void refuse(Rank rank, const std::string& text) {
  throw Error(Fault::kInput, "affinity: rank " + std::to_string(rank) + ": " + text);
}

// Weights are scaled by a power of two, so that sums of the largest doubles stay finite; nothing else changes.
Graph graph_of(const pattern::Affinity& affinity) {
  double largest = 0;
  for (Rank rank = 0; rank < affinity.ranks; ++rank) {
    for (const double weight : affinity.weights_of(rank)) {
      if (!std::isfinite(weight) || weight < 0) {
        refuse(rank, "expected a finite weight, at least 0, found " + std::to_string(weight));
      }
      largest = std::max(largest, weight);
    }
  }
  const double scale = scale_for_sums(largest);
  Graph graph;
  graph.size.assign(at(affinity.ranks), 1);
  graph.arcs.reserve(affinity.indices.size());
  for (Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto neighbours = affinity.neighbours(rank);
    const auto weights = affinity.weights_of(rank);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] < 0 || neighbours[i] >= affinity.ranks) {
        refuse(rank, "expected a neighbour in 0.." + std::to_string(affinity.ranks - 1) + ", found " +
                         std::to_string(neighbours[i]));
      }
      if (neighbours[i] != rank && weights[i] > 0) graph.arcs.push_back({neighbours[i], weights[i] * scale});
    }
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

constexpr double kNear = 1.3;
constexpr std::size_t kDense = 96;      // arcs a vertex on average from which ranks are divided by the strongest only
constexpr std::size_t kStrongest = 24;  // these

class Engine {
 public:
  Engine(const topo::Tree& tree, const Graph& graph, const EngineOptions& options)
      : tree_(tree, options.constraints),
        graph_(graph),
        options_(options),
        effort_(effort_of(options.preset)),
        workers_(options.threads, options.keep_going) {}

  Placement run(const Placement& start) {
    best_ = seats_of_start(start);
    best_cost_ = engine::cost_of(tree_, graph_, best_);
    const std::vector<SeatTree::Seat> first = best_;
    const double first_cost = best_cost_;
    const bool dense = graph_.arcs.size() > kDense * graph_.size.size();
    const Graph sparse = dense ? engine::strongest_arcs(graph_, kStrongest) : Graph{};
    const engine::Piece guide = engine::guide_of(dense ? sparse : graph_);
    try_divisions(guide);
    // The search alone does not get far: only from a start that is nearly good enough is it worth its time.
    if (workers_.ask() && first_cost < kNear * best_cost_) {
      Candidate candidate{first, first_cost};
      search(candidate, seed_of(options_.seed, 0));
      keep(std::move(candidate));
    }
    if (workers_.ask() && graph_.vertices() <= engine::kExactRanks) engine::search_exactly(tree_, graph_, best_);
    Placement placement;
    placement.leaf_of.reserve(best_.size());
    for (const SeatTree::Seat seat : best_) placement.leaf_of.push_back(tree_.leaf(seat));
    return placement;
  }

 private:
  struct Candidate {
    std::vector<SeatTree::Seat> seats;
    double cost = std::numeric_limits<double>::infinity();
  };

  // Small graphs can afford several divisions in the time that a large one takes for its first.
  [[nodiscard]] int runs() const {
    constexpr std::size_t kSmall = 16000;  // arcs
    const auto affordable = static_cast<int>(kSmall / (graph_.arcs.size() + 1));
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
      candidates[at(i)].seats = engine::Multisection(tree_, effort_, spread, workers_).place(guide, seed_of(seed, 0));
      search(candidates[at(i)], seed_of(seed, 1));
    });
    for (Candidate& candidate : candidates) keep(std::move(candidate));
  }

  // A leaf that takes several ranks gives them its seats in the order of ranks.
  [[nodiscard]] std::vector<SeatTree::Seat> seats_of_start(const Placement& start) const {
    std::vector<SeatTree::Seat> next;  // by leaf
    for (SeatTree::Seat seat = tree_.seats(); seat-- > 0;) {
      const auto leaf = at(tree_.leaf(seat));
      if (next.size() <= leaf) next.resize(leaf + 1);
      next[leaf] = seat;
    }
    std::vector<SeatTree::Seat> seats;
    seats.reserve(start.leaf_of.size());
    for (const topo::Leaf leaf : start.leaf_of) seats.push_back(next[at(leaf)]++);
    return seats;
  }

  void search(Candidate& candidate, std::uint64_t seed) {
    engine::search_by_swaps(tree_, graph_, effort_, seed, workers_, candidate.seats);
    candidate.cost = engine::cost_of(tree_, graph_, candidate.seats);
  }

  void keep(Candidate candidate) {
    if (candidate.cost >= best_cost_) return;
    best_cost_ = candidate.cost;
    best_ = std::move(candidate.seats);
  }

  SeatTree tree_;
  const Graph& graph_;
  const EngineOptions& options_;
  Effort effort_;
  Workers workers_;
  std::vector<SeatTree::Seat> best_;
  double best_cost_ = 0;
};

void check_start(const topo::Tree& tree, const Placement& start, Rank ranks, const Constraints& constraints) {
  try {
    validate(tree, start, ranks, constraints);
  } catch (const Error& error) {
    throw Error(Fault::kInput, std::string("start: ") + error.what());
  }
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
  if (options.start) check_start(tree, start, affinity.ranks, options.constraints);
  std::optional<Placement> dense = place_as_matrix(tree, affinity, options);
  const Graph graph = dense ? Graph{} : graph_of(affinity);
  if (!dense && graph.arcs.empty()) return start;
  Placement found = dense ? std::move(*dense) : Engine(tree, graph, options).run(start);
  // Compared as evaluate() counts, whose sums round differently.
  const bool better = evaluate(tree, affinity, found).total < evaluate(tree, affinity, start).total;
  return better ? found : start;
}

std::vector<SeatTree::Seat> engine::divide(const SeatTree& tree, const Graph& guide, const EngineOptions& options,
                                           bool loose, std::uint64_t seed) {
  const Effort effort = effort_of(options.preset);
  Workers workers(options.threads, options.keep_going);
  const Spread spread = loose ? Spread::kLoose : Spread::kPacked;
  return Multisection(tree, effort, spread, workers).place(guide_of(guide), seed);
}

}  // namespace ranktree::core::place
