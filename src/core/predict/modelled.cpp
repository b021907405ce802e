#include "core/predict/modelled.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::predict {
namespace {

using topo::Leaf;
using topo::Object;
using topo::Tree;
using Colours = std::vector<std::vector<std::int32_t>>;  // by level between root and leaves, and leaf

// For each level between root and leaves the object above each leaf; where a leaf has none on it, the one further out.
Colours objects_above(const Tree& tree) {
  const int between = std::max(tree.level_count() - 2, 0);
  Colours above(at(between), std::vector<std::int32_t>(at(tree.leaf_count()), 0));
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    int end = between;
    for (Object object = tree.parent(tree.leaf_object(leaf)); object > 0; object = tree.parent(object)) {
      for (const int first = tree.level_of(object); end >= first; --end) above[at(end - 1)][at(leaf)] = object;
    }
  }
  return above;
}

// The level of the nodes; 0 where the machine has none.
int node_level(const Tree& tree) {
  for (int level = 0; level < tree.level_count(); ++level) {
    if (tree.level(level).kind == topo::Kind::kNode) return level;
  }
  return 0;
}

std::vector<Leaf> allowed_leaves(const Tree& tree) {
  std::vector<Leaf> leaves;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (tree.allowed(leaf)) leaves.push_back(leaf);
  }
  return leaves;
}

// These leaves in an order in which each node in turn gives one.
std::vector<Leaf> in_turn(const std::vector<Leaf>& leaves, const std::vector<std::int32_t>& node_of) {
  std::vector<int> seen(node_of.empty() ? 0 : at(*std::max_element(node_of.begin(), node_of.end())) + 1, 0);
  std::vector<std::pair<int, Leaf>> turns;
  turns.reserve(leaves.size());
  for (const Leaf leaf : leaves) turns.emplace_back(seen[at(node_of[at(leaf)])]++, leaf);
  std::sort(turns.begin(), turns.end());
  std::vector<Leaf> order;
  order.reserve(turns.size());
  for (const auto& [turn, leaf] : turns) order.push_back(leaf);
  return order;
}

std::vector<std::int32_t> chosen(const std::vector<std::int32_t>& colours, const std::vector<Leaf>& order) {
  std::vector<std::int32_t> result;
  result.reserve(order.size());
  for (const Leaf leaf : order) result.push_back(colours[at(leaf)]);
  return result;
}

bool has_equal_entries(std::vector<std::int32_t> colours) {
  std::sort(colours.begin(), colours.end());
  return std::adjacent_find(colours.begin(), colours.end()) != colours.end();
}

std::vector<std::string> names_of(const Tree& tree) {
  std::vector<std::string> names = topo::level_names(tree);
  names.erase(names.begin());
  for (std::string& name : names) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  }
  if (names.empty()) names.emplace_back("core");
  return names;
}

// The latency and bandwidth of each level of a machine that has no distances; usual ones where a level has none.
// Nothing where no level has any.
std::optional<Parameters> given_on_levels(const Tree& tree, Parameters parameters, std::vector<bool>& given) {
  bool any = false;
  for (std::size_t level = 0; level < given.size(); ++level) {
    const topo::Level& about = tree.level(static_cast<int>(level));
    if (about.latency) parameters.levels[level].latency = *about.latency;
    if (about.bandwidth) parameters.levels[level].per_byte = 1 / *about.bandwidth;
    given[level] = about.latency && about.bandwidth;
    any = any || about.latency || about.bandwidth;
  }
  if (!any) return std::nullopt;
  return parameters;
}

// Of its links; nothing where one has none.
std::optional<double> least_bandwidth(const topo::Interconnect::Network& network) {
  std::vector<std::optional<double>> links;
  if (const auto* torus = std::get_if<topo::Torus>(&network)) {
    for (const topo::Step& step : torus->steps) links.push_back(step.bandwidth);
    if (torus->nodes_per_router > 1) links.push_back(torus->link.bandwidth);
  } else if (const auto* dragonfly = std::get_if<topo::Dragonfly>(&network)) {
    links = {dragonfly->local.bandwidth, dragonfly->global.bandwidth, dragonfly->link.bandwidth};
  } else {
    links = {std::get<topo::DistanceTable>(network).bandwidth};
  }
  return *std::min_element(links.begin(), links.end());  // nothing is less than any number
}

// The same of a network with distances, which has to have both on all levels: the latency of the nearest nodes, the
// bandwidth of the narrowest link.
std::optional<Parameters> given_by_network(const Tree& tree, Parameters parameters, std::vector<bool>& given) {
  std::optional<double> bandwidth = least_bandwidth(tree.interconnect()->network());
  try {
    const Tree latency = tree.with_metric(topo::Metric::kLatency);
    for (std::size_t level = 0; level < given.size(); ++level) {
      if (level > 0) bandwidth = tree.level(static_cast<int>(level)).bandwidth;
      if (!bandwidth) return std::nullopt;
      parameters.levels[level].latency = latency.cost(static_cast<int>(level));
      parameters.levels[level].per_byte = 1 / *bandwidth;
      given[level] = true;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return parameters;
}

void set_parameters(Modelled& result, const Tree& tree, int levels, const Parameters* measured) {
  if (measured != nullptr) {
    result.parameters = matched(*measured, levels, result.across);
    result.source = LinkSource::kMeasured;
    return;
  }
  result.parameters = usual_parameters(levels, result.across);
  std::vector<bool> given(at(levels), false);
  const auto& own = tree.interconnect() == nullptr ? given_on_levels : given_by_network;
  if (auto found = own(tree, result.parameters, given)) {
    result.parameters = *std::move(found);
    result.source = LinkSource::kMachine;
    for (std::size_t level = 0; level < given.size(); ++level) {
      if (!given[level]) result.usual.push_back(result.names[level]);
    }
  }
}

}  // namespace

Modelled modelled(const Tree& tree, schedule::Rank ranks, const Parameters* measured, bool by_node) {
  if (ranks < 1) throw Error(Fault::kInput, "ranks: expected at least 1, found " + std::to_string(ranks));
  std::vector<Leaf> order = allowed_leaves(tree);
  if (std::cmp_greater(ranks, order.size())) {
    throw Error(Fault::kMismatch, "ranks: the machine has slots for " + std::to_string(order.size()) +
                                      " ranks, found " + std::to_string(ranks));
  }
  Modelled result;
  result.across = node_level(tree);
  result.names = names_of(tree);
  result.nodes_are_shared = ranks > 1;
  Colours colours = objects_above(tree);
  const auto levels = static_cast<int>(colours.size()) + 1;
  const bool has_nodes = result.across > 0 && result.across < levels;
  if (has_nodes && by_node) order = in_turn(order, colours[at(result.across - 1)]);
  order.resize(at(ranks));
  for (auto& level : colours) level = chosen(level, order);
  if (has_nodes) result.nodes_are_shared = has_equal_entries(colours[at(result.across - 1)]);
  if (result.across >= levels) result.nodes_are_shared = false;  // each leaf is a node
  result.hierarchy = colours.empty() ? schedule::Hierarchy::flat(ranks) : schedule::Hierarchy::from_colours(colours);
  set_parameters(result, tree, levels, measured);
  return result;
}

}  // namespace ranktree::core::predict
