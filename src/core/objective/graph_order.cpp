#include "core/objective/graph_order.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "core/objective/model.h"
#include "core/objective/timed_plan.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/place/treematch.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {
namespace {

using place::Placement;

// A smaller share of the modelled time is less than the model knows.
constexpr double kWorthwhile = 0.02;

bool goes_on(const GraphOptions& options) { return !options.keep_going || options.keep_going(); }

// The cheapest of `home`, the candidates and, unless it comes too late, what `find` returns; the first of equals.
// `home` where that saves less than the share `worthwhile`.
template <typename Cost, typename Find>
GraphOrder cheapest(const Placement& home, const GraphOptions& options, double worthwhile, const Cost& cost,
                    const Find& find) {
  const double before = cost(home);
  GraphOrder order{home, before, before};
  const auto enter = [&](Placement placement) {
    const double after = cost(placement);
    if (!(after < order.after)) return;
    order.placement = std::move(placement);
    order.after = after;
  };
  if (!goes_on(options)) return order;
  for (const Placement& candidate : options.candidates) enter(candidate);
  Placement found = find();
  if (goes_on(options)) enter(std::move(found));
  if (order.after < before * (1 - worthwhile)) return order;
  return {home, before, before};
}

GraphOrder by_hops(const topo::Tree& tree, const pattern::Affinity& graph, const Placement& home,
                   const GraphOptions& options) {
  place::EngineOptions engine;
  engine.preset = options.preset;
  engine.seed = options.seed;
  engine.start = home;
  engine.keep_going = options.keep_going;
  const auto find = [&] {
    if (options.algorithm == Algorithm::kTreeMatch) return place::treematch(tree, graph, {.seed = options.seed});
    return place::run_engine(tree, graph, engine);
  };
  return cheapest(
      home, options, 0, [&](const Placement& placement) { return place::evaluate(tree, graph, placement).total; },
      find);
}

pattern::Affinity counted(pattern::Affinity graph) {
  for (double& weight : graph.weights) weight = 1;
  return graph;
}

// The weights have no directions.
pattern::Pattern pattern_of(const pattern::Affinity& graph) {
  std::vector<pattern::Entry> entries;
  entries.reserve(graph.indices.size());
  for (pattern::Rank rank = 0; rank < graph.ranks; ++rank) {
    const auto peers = graph.neighbours(rank);
    const auto weights = graph.weights_of(rank);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      entries.push_back({rank, peers[i], pattern::Class::kPointToPoint, 1, weights[i] / 2});
    }
  }
  return pattern::from_entries(graph.ranks, entries);
}

// The same tree, its nodes numbered in their order, as simulate::Platform has it.
topo::Tree with_numbered_nodes(const topo::Tree& tree) {
  std::vector<topo::Level> levels;
  levels.reserve(static_cast<std::size_t>(tree.level_count()));
  for (int level = 0; level < tree.level_count(); ++level) levels.push_back(tree.level(level));
  topo::TreeBuilder builder(std::move(levels));
  int nodes = 0;
  for (topo::Object object = 0; object < tree.object_count(); ++object) {
    const int level = tree.level_of(object);
    const bool is_node = tree.level(level).kind == topo::Kind::kNode;
    builder.add(tree.parent(object), level, is_node ? nodes++ : tree.os_index(object), tree.name(object));
  }
  return std::move(builder).build();
}

}  // namespace

GraphOrder order_for_pattern(const topo::Tree& slots, const pattern::Pattern& expanded, const Placement& home,
                             const GraphOptions& options) {
  const topo::Tree tree = with_numbered_nodes(slots);
  const Model model{.objective = options.objective, .parameters = options.parameters};
  place::PlanOptions planning;
  planning.preset = options.preset;
  planning.seed = options.seed;
  planning.keep_going = options.keep_going;
  return cheapest(
      home, options, kWorthwhile,
      [&](const Placement& placement) { return limit_of(tree, expanded, model, placement).seconds; },
      [&] { return Placement{make_plan(tree, expanded, planning, model).leaf_of}; });
}

GraphOrder order_for_graph(const topo::Tree& tree, const pattern::Affinity& graph, const Placement& home,
                           const GraphOptions& options) {
  switch (options.objective) {
    case Objective::kMessages:
      return by_hops(tree, counted(graph), home, options);
    case Objective::kBottleneck:
    case Objective::kTime:
      return order_for_pattern(tree, pattern_of(graph), home, options);
    case Objective::kBytes:
      break;
  }
  return by_hops(tree, graph, home, options);
}

}  // namespace ranktree::core::objective
