#include "core/place/network/network_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/scale.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/engine.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/lattice.h"
#include "core/place/network/distances.h"
#include "core/place/network/embedding.h"
#include "core/place/network/few_ranks.h"
#include "core/place/network/folding.h"
#include "core/place/network/search.h"
#include "core/place/network/surrogate.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {
namespace {

using pattern::Rank;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Effort {
  SearchEffort search;
  int surrogates;        // trees that stand for the network
  int rounds;            // of annealing
  std::int64_t folding;  // steps of looking for folds of a grid
};

Effort effort_of(Preset preset) {
  switch (preset) {
    case Preset::kFast:
      return {{8, 8, 4, 0, 0}, 1, 0, 400'000};
    case Preset::kDefault:
      return {{16, 8, 10, 1000, 8'000'000}, 1, 1, 1'500'000};
    case Preset::kStrong:
      break;
  }
  return {{64, 26, 20, 5000, 40'000'000}, 3, 2, 10'000'000};
}

// Vertex i is rank i; weights scaled by a power of two, so that sums of the largest doubles stay finite.
engine::Graph graph_of(const pattern::Affinity& affinity) {
  double largest = 0;
  for (const double weight : affinity.weights) largest = std::max(largest, weight);
  const double scale = scale_for_sums(largest);
  engine::Graph graph;
  graph.size.assign(at(affinity.ranks), 1);
  graph.arcs.reserve(affinity.indices.size());
  for (Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto neighbours = affinity.neighbours(rank);
    const auto weights = affinity.weights_of(rank);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] != rank && weights[i] > 0) graph.arcs.push_back({neighbours[i], weights[i] * scale});
    }
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

class NetworkEngine {
 public:
  NetworkEngine(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options)
      : affinity_(affinity),
        options_(options),
        effort_(effort_of(options.preset)),
        distances_(tree, options.constraints),
        graph_(graph_of(affinity)),
        input_{distances_, graph_, {}, effort_.search, [this] { return ask(); }} {
    if (options.constraints.pins.empty()) return;
    input_.fixed.assign(at(affinity.ranks), 0);
    for (const Pin& pin : options.constraints.pins) input_.fixed[at(pin.rank)] = 1;
  }

  Placement run(const Placement& start) {
    best_ = distances_.seats_of(start);
    if (graph_.arcs.empty()) return start;
    best_cost_ = cost_of(input_, best_);
    const std::vector<Seat> first = best_;
    const double first_cost = best_cost_;
    if (options_.constraints.pins.empty() && ask()) {
      for (auto& seats : neighbourly_placements(distances_, graph_, options_.seed, input_.go_on)) {
        try_from(std::move(seats));
      }
      if (unfinished()) try_folds();
    }
    for (int turn = 0; turn < effort_.surrogates && unfinished(); ++turn) try_surrogate(turn, start);
    // The search alone does not get far: only from a start that is nearly good enough is it worth its time.
    constexpr double kNear = 1.3;
    if (unfinished() && first_cost < kNear * best_cost_) try_from(first);
    for (int round = 0; round < effort_.rounds && unfinished(); ++round)
      anneal(seed_of(options_.seed, 100 + at(round)));
    if (affinity_.ranks <= kFewRanks && unfinished()) search_few(input_, best_);
    return distances_.placement_of(best_);
  }

 private:
  // Who has said stop once is not asked again.
  bool ask() {
    if (!stopped_ && options_.keep_going) stopped_ = !options_.keep_going();
    return !stopped_;
  }

  // Nothing is cheaper than all pairs on seats as near as any.
  bool unfinished() {
    double weight = 0;
    for (const engine::Arc& arc : graph_.arcs) weight += arc.weight / 2;
    return best_cost_ > weight * distances_.least() && ask();
  }

  void improve(std::vector<Seat>& seats) const {
    swap_nodes(input_, seats);
    const bool one_each = distances_.seats() == distances_.nodes();
    if (!one_each || !input_.fixed.empty()) swap_ranks(input_, seats);
  }

  void try_folds() {
    Workers workers(1, input_.go_on);
    const auto lattice = engine::find_lattice(graph_, workers);
    if (!lattice) return;
    for (auto& seats : folded_placements(distances_, graph_, *lattice, effort_.folding, options_.seed, input_.go_on)) {
      try_from(std::move(seats));
    }
  }

  void try_surrogate(int turn, const Placement& start) {
    EngineOptions there = options_;
    there.seed = turn == 0 ? options_.seed : seed_of(options_.seed, at(turn));
    there.keep_going = input_.go_on;
    const std::vector<Group> groups = nested_groups(distances_.interconnect(), turn);
    auto seats = distances_.seats_of(place_on(surrogate_of(distances_, groups), affinity_, there, start));
    turn_groups(input_, groups, seats);
    improve(seats);
    turn_groups(input_, groups, seats);
    try_from(std::move(seats));
  }

  void try_from(std::vector<Seat> seats) {
    improve(seats);
    keep(std::move(seats));
  }

  void anneal(std::uint64_t seed) {
    std::vector<Seat> seats = best_;
    anneal_nodes(input_, seed, seats);
    try_from(std::move(seats));
  }

  void keep(std::vector<Seat> seats) {
    const double cost = cost_of(input_, seats);
    if (cost >= best_cost_) return;
    best_cost_ = cost;
    best_ = std::move(seats);
  }

  const pattern::Affinity& affinity_;
  const EngineOptions& options_;
  Effort effort_;
  Distances distances_;
  engine::Graph graph_;
  SearchInput input_;
  std::vector<Seat> best_;
  double best_cost_ = 0;
  bool stopped_ = false;
};

}  // namespace

Placement place_on_network(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options,
                           const Placement& start) {
  return NetworkEngine(tree, affinity, options).run(start);
}

}  // namespace ranktree::core::place::network
