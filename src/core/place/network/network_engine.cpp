#include "core/place/network/network_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/engine.h"
#include "core/place/engine/context.h"
#include "core/place/exact/exact_search.h"
#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"
#include "core/place/network/fitting.h"
#include "core/place/network/folding.h"
#include "core/place/network/search.h"
#include "core/place/network/surrogate.h"
#include "core/place/order/lattice.h"
#include "core/place/order/ordered.h"
#include "core/place/placement.h"
#include "core/place/slots/slot_tree.h"
#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {
namespace {

using pattern::Rank;

// Steps of annealing grow with what a preset anneals anyway; without it, some of them replace nothing else.
SearchEffort effort_of(Preset preset) {
  constexpr double kCooling = 250;         // steps a vertex, and
  constexpr double kCoolingOfTrial = 2.5;  // for each trial of a vertex on a border in the divisions
  return {.partners = 16,
          .near = 8,
          .passes = 10,
          .cooling = kCooling + kCoolingOfTrial * engine::context_of(preset).annealing,
          .most = 240e6};
}

constexpr std::int64_t kFolding = 1'500'000;  // steps of looking for folds of a grid

// Vertex i is rank i.
engine::Graph graph_of(const pattern::Affinity& affinity) {
  Workers alone(1);
  std::vector<Rank> order(at(affinity.ranks));
  std::iota(order.begin(), order.end(), 0);
  return engine::graph_of(affinity, order, engine::largest_weight(affinity, alone));
}

class NetworkEngine {
 public:
  NetworkEngine(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options)
      : affinity_(affinity),
        options_(options),
        distances_(tree, options.constraints),
        graph_(graph_of(affinity)),
        input_{distances_, graph_, {}, effort_of(options.preset), [this] { return check_now(); }} {
    if (options.constraints.pins.empty()) return;
    input_.fixed.assign(at(affinity.ranks), 0);
    for (const Pin& pin : options.constraints.pins) input_.fixed[at(pin.rank)] = 1;
  }

  Placement run(const Placement& start) {
    best_ = distances_.slots_of(start);
    if (graph_.arcs.empty()) return start;
    best_cost_ = cost_of(input_, best_);
    const std::vector<Slot> first = best_;
    const double first_cost = best_cost_;
    if (options_.constraints.pins.empty() && check_now()) try_grid();
    if (unfinished()) try_surrogate(start);
    // Refinement alone gains little, so it is worth its time only from a start that is nearly as good as the best.
    constexpr double kNear = 1.3;
    if (unfinished() && first_cost < kNear * best_cost_) try_from(first);
    if (unfinished()) anneal(seed_of(options_.seed, 100));
    if (affinity_.ranks <= exact::kMostRanks && unfinished()) search_exactly();
    return distances_.placement_of(best_);
  }

 private:
  // keep_going is not called again after it has returned false.
  bool check_now() {
    if (!stopped_ && options_.keep_going) stopped_ = !options_.keep_going();
    return !stopped_;
  }

  // Nothing is cheaper than all pairs on slots as near as any.
  bool unfinished() {
    double weight = 0;
    for (const engine::Arc& arc : graph_.arcs) weight += arc.weight / 2;
    return best_cost_ > weight * distances_.least() && check_now();
  }

  void improve(std::vector<Slot>& slots) const {
    swap_nodes(input_, slots);
    const bool one_each = distances_.slots() == distances_.nodes();
    if (!one_each || !input_.fixed.empty()) swap_ranks(input_, slots);
  }

  // Recognised, since a local search does not find the one placement in which all neighbours are a step apart.
  void try_grid() {
    Workers workers(1, input_.go_on);
    const auto lattice = engine::find_lattice(graph_, workers);
    if (!lattice) return;
    for (auto& slots : fitted_placements(distances_, *lattice)) try_from(std::move(slots));
    if (!unfinished()) return;
    for (auto& slots : folded_placements(distances_, graph_, *lattice, kFolding, options_.seed, input_.go_on)) {
      try_from(std::move(slots));
    }
  }

  void try_surrogate(const Placement& start) {
    EngineOptions there = options_;
    there.keep_going = input_.go_on;
    try_from(distances_.slots_of(place_on(surrogate_of(distances_), affinity_, there, start)));
  }

  void try_from(std::vector<Slot> slots) {
    improve(slots);
    keep(std::move(slots));
  }

  void anneal(std::uint64_t seed) {
    std::vector<Slot> slots = best_;
    anneal_nodes(input_, seed, slots);
    try_from(std::move(slots));
  }

  // On the machine's tree whose root costs more than all below it, so that its groups stay the nodes.
  void search_exactly() {
    if (distances_.nodes() < 2) return;
    const topo::Tree& machine = distances_.tree();
    std::vector<double> costs;
    for (int level = 0; level + 1 < machine.level_count(); ++level) costs.push_back(machine.cost(level));
    costs.front() = 1 + *std::max_element(costs.begin(), costs.end());
    const engine::SlotTree slots(machine.with_costs(costs), options_.constraints);
    if (slots.levels() == 0 || slots.groups(1) < 2) return;
    const auto node = [&](engine::SlotTree::Group group) { return distances_.node(slots.first_slot(1, group)); };
    const exact::Network network{[&](auto a, auto b) { return distances_.between(node(a), node(b)); },
                                 all_nodes_alike()};
    Workers workers(1, input_.go_on);
    const std::vector<Slot> start = engine::slots_of(slots, distances_.placement_of(best_));  // with pins first
    auto found = exact::cheapest(slots, graph_, network, best_cost_, workers, start);
    if (found) keep(std::move(*found));
  }

  // Every node of a full torus that wraps sees the same.
  [[nodiscard]] bool all_nodes_alike() const {
    const topo::Interconnect& network = distances_.interconnect();
    const auto* torus = std::get_if<topo::Torus>(&network.network());
    if (torus == nullptr || network.hosts() != topo::node_count(network.network()) || !input_.fixed.empty())
      return false;
    for (std::size_t i = 0; i < torus->sizes.size(); ++i) {
      if (torus->wraps[i] == 0 && torus->sizes[i] > 2) return false;
    }
    for (int node = 1; node < distances_.nodes(); ++node) {
      if (distances_.form(node) != distances_.form(0)) return false;
    }
    return true;
  }

  void keep(std::vector<Slot> slots) {
    const double cost = cost_of(input_, slots);
    if (cost >= best_cost_) return;
    best_cost_ = cost;
    best_ = std::move(slots);
  }

  const pattern::Affinity& affinity_;
  const EngineOptions& options_;
  Distances distances_;
  engine::Graph graph_;
  SearchInput input_;
  std::vector<Slot> best_;
  double best_cost_ = 0;
  bool stopped_ = false;
};

}  // namespace

Placement place_on_network(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options,
                           const Placement& start) {
  return NetworkEngine(tree, affinity, options).run(start);
}

}  // namespace ranktree::core::place::network
