#include "core/simulate/level_costs.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

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

}  // namespace

std::vector<LevelCost> level_costs(const topo::Tree& tree) {
  const int levels = tree.level_count() - 1;
  const int across = levels_across(tree);
  const predict::Parameters usual = predict::usual_parameters(levels, across);
  std::vector<LevelCost> costs;
  for (int level = 0; level < levels; ++level) {
    const topo::Level& given = tree.level(level);
    const predict::LevelParameters& otherwise = usual.levels[static_cast<std::size_t>(level)];
    const double between = level >= across && across > 0 ? costs[static_cast<std::size_t>(across - 1)].bandwidth : 0;
    costs.push_back({.kind = given.kind,
                     .latency = given.latency.value_or(otherwise.latency),
                     .bandwidth = given.bandwidth.value_or(std::max(between, 1 / otherwise.per_byte)),
                     .latency_given = given.latency.has_value(),
                     .bandwidth_given = given.bandwidth.has_value()});
  }
  return costs;
}

std::vector<LevelCost> level_costs(const topo::Tree& tree, const predict::Parameters& parameters) {
  const int levels = tree.level_count() - 1;
  const predict::Parameters fitted = predict::matched(parameters, levels, levels_across(tree));
  std::vector<LevelCost> costs;
  for (int level = 0; level < levels; ++level) {
    const predict::LevelParameters& measured = fitted.levels[static_cast<std::size_t>(level)];
    costs.push_back({.kind = tree.level(level).kind,
                     .latency = measured.latency,
                     .bandwidth = 1 / measured.per_byte,
                     .latency_given = true,
                     .bandwidth_given = true});
  }
  return costs;
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
