#include "core/simulate/level_costs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
#include "core/predict/parameters.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {
namespace {

void fill(topo::Step& step) {
  if (!step.latency) step.latency = step.hops * usual_step_latency();
}

int levels_across(const topo::Tree& tree) {
  int across = 0;
  while (across < tree.level_count() - 1 && tree.level(across).kind < topo::Kind::kNode) ++across;
  return across;
}

// What messages between two nodes pass: some of the steps, and the nodes' links where there are any.
struct Passed {
  std::vector<topo::Step> steps;
  std::optional<topo::Step> port;
};

Passed passed_in(const topo::Torus& torus) {
  Passed passed;
  for (std::size_t i = 0; i < torus.steps.size(); ++i) {
    if (torus.sizes[i] > 1) passed.steps.push_back(torus.steps[i]);
  }
  if (torus.nodes_per_router > 1 || torus.link.bandwidth) passed.port = torus.link;
  return passed;
}

Passed passed_in(const topo::Dragonfly& dragonfly) {
  Passed passed{.steps = {}, .port = dragonfly.link};
  if (dragonfly.routers_per_group > 1) passed.steps.push_back(dragonfly.local);
  if (dragonfly.groups > 1) passed.steps.push_back(dragonfly.global);
  return passed;
}

Passed passed_in(const topo::DistanceTable& table) {
  const std::optional<double> latency = table.seconds ? std::optional(usual_step_latency()) : std::nullopt;
  return {.steps = {{.hops = 1, .latency = latency, .bandwidth = table.bandwidth}}, .port = std::nullopt};
}

// Of a torus, dragonfly or table: the latency of a step, and the most that a message between two nodes can have of the
// bandwidth; given where all links that are used have one.
LevelCost network_cost(const topo::Interconnect& interconnect) {
  const Passed passed = std::visit([](const auto& network) { return passed_in(network); }, interconnect.network());
  LevelCost cost{.latency = usual_step_latency(), .latency_given = true, .bandwidth_given = true};
  const auto add = [&cost](const topo::Step& step) {
    cost.latency_given = cost.latency_given && (step.latency || step.hops == 0);
    cost.bandwidth_given = cost.bandwidth_given && step.bandwidth;
    return step.bandwidth.value_or(usual_link_bandwidth());
  };
  for (const topo::Step& step : passed.steps) cost.bandwidth = std::max(cost.bandwidth, add(step));
  if (!passed.port) return cost;
  const double port = add(*passed.port);
  cost.bandwidth = passed.steps.empty() ? port : std::min(cost.bandwidth, port);
  return cost;
}

// The first `across` levels are between nodes.
//
// Latencies of a network that is no tree are distances, to which those inside the nodes are added.
void keep_partners_near(std::vector<LevelCost>& costs, int across, bool has_distances) {
  if (across == 0 || at(across) == costs.size()) return;
  const LevelCost inside = costs[at(across)];
  for (auto cost = costs.begin(); cost != costs.begin() + across; ++cost) {
    if (!cost->latency_given && inside.latency_given) cost->latency = std::max(cost->latency, inside.latency);
    if (!cost->bandwidth_given && inside.bandwidth_given) cost->bandwidth = std::min(cost->bandwidth, inside.bandwidth);
  }
  const LevelCost between = costs[at(across - 1)];
  for (auto cost = costs.begin() + across; cost != costs.end(); ++cost) {
    if (!cost->latency_given && !has_distances) cost->latency = std::min(cost->latency, between.latency);
    if (!cost->bandwidth_given) cost->bandwidth = std::max(cost->bandwidth, between.bandwidth);
  }
}

}  // namespace

std::vector<LevelCost> level_costs(const topo::Tree& tree) {
  const int levels = tree.level_count() - 1;
  const int across = levels_across(tree);
  const predict::Parameters usual = predict::usual_parameters(levels, across);
  std::vector<LevelCost> costs;
  for (int level = 0; level < levels; ++level) {
    const topo::Level& given = tree.level(level);
    const predict::LevelParameters& otherwise = usual.levels[at(level)];
    costs.push_back({.kind = given.kind,
                     .latency = given.latency.value_or(otherwise.latency),
                     .bandwidth = given.bandwidth.value_or(1 / otherwise.per_byte),
                     .latency_given = given.latency.has_value(),
                     .bandwidth_given = given.bandwidth.has_value()});
    if (level >= across || tree.interconnect() == nullptr) continue;
    costs.back() = network_cost(*tree.interconnect());
    costs.back().kind = given.kind;
  }
  keep_partners_near(costs, across, tree.interconnect() != nullptr);
  return costs;
}

std::vector<LevelCost> level_costs(const topo::Tree& tree, const predict::Parameters& parameters) {
  const int levels = tree.level_count() - 1;
  const int across = levels_across(tree);
  const predict::Parameters fitted = predict::matched(parameters, levels, across);
  const int known_across = predict::levels_across_nodes(parameters);
  const bool knows_wires = known_across > 0;
  const bool knows_inside = known_across < static_cast<int>(parameters.levels.size());
  std::vector<LevelCost> costs;
  for (int level = 0; level < levels; ++level) {
    const predict::LevelParameters& fitting = fitted.levels[at(level)];
    const bool measured = level < across ? knows_wires : knows_inside;
    costs.push_back({.kind = tree.level(level).kind,
                     .latency = fitting.latency,
                     .bandwidth = 1 / fitting.per_byte,
                     .latency_given = measured,
                     .bandwidth_given = measured});
  }
  keep_partners_near(costs, across, tree.interconnect() != nullptr);
  return costs;
}

std::vector<std::string> usual_levels(const topo::Tree& tree, const std::vector<LevelCost>& costs) {
  std::vector<std::uint8_t> meets(costs.size());
  for (topo::Object object = 0; object < tree.object_count(); ++object) {
    if (tree.child_count(object) > 1) meets[at(tree.level_of(object))] = 1;
  }
  std::vector<std::string> kinds;
  for (std::size_t level = 0; level < costs.size(); ++level) {
    if (meets[level] == 0 || (costs[level].latency_given && costs[level].bandwidth_given)) continue;
    const bool in_network = tree.interconnect() != nullptr && costs[level].kind < topo::Kind::kNode;
    kinds.emplace_back(in_network ? "Network" : kind_name(costs[level].kind));
  }
  return kinds;
}

// One more layer of switches between two nodes.
double usual_step_latency() {
  const predict::Parameters usual = predict::usual_parameters(2, 2);
  return usual.levels[0].latency - usual.levels[1].latency;
}

double usual_link_bandwidth() { return 1 / predict::usual_parameters(1, 1).levels[0].per_byte; }

topo::Interconnect in_seconds(const topo::Interconnect& interconnect) {
  topo::Interconnect::Network network = interconnect.network();
  if (auto* torus = std::get_if<topo::Torus>(&network)) {
    for (topo::Step& step : torus->steps) fill(step);
    fill(torus->link);
  } else if (auto* dragonfly = std::get_if<topo::Dragonfly>(&network)) {
    for (topo::Step* step : {&dragonfly->local, &dragonfly->global, &dragonfly->link}) fill(*step);
  } else if (auto* table = std::get_if<topo::DistanceTable>(&network); !table->seconds) {
    for (double& value : table->values) value *= usual_step_latency();
    table->seconds = true;
  }
  return topo::Interconnect(std::move(network), interconnect.positions()).with_metric(topo::Metric::kLatency);
}

}  // namespace ranktree::core::simulate
