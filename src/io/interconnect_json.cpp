#include "io/interconnect_json.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "core/topo/interconnect.h"
#include "core/topo/machine.h"
#include "core/topo/tree.h"
#include "io/json_place.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::topo::DistanceTable;
using core::topo::Dragonfly;
using core::topo::Host;
using core::topo::Interconnect;
using core::topo::NetworkPart;
using core::topo::Step;
using core::topo::Torus;
using nlohmann::json;

constexpr std::int64_t kMostParts = 1'048'576;
constexpr std::size_t kMaxDimensions = 8;
constexpr std::size_t kMaxSwitchLevels = 24;
constexpr const char* kBandwidth = "bandwidth_bytes_per_s";

int whole(const JsonPlace& network, const std::string& key, int otherwise) {
  return network.has(key) ? static_cast<int>(network.field(key).integer(1, kMostParts)) : otherwise;
}

// "hop": 2, or a list of `items` numbers such as [2, 2, 1]; the same for "latency_s".
double cost_at(const JsonPlace& costs, const std::string& key, std::size_t index, std::size_t items) {
  const JsonPlace place = costs.field(key);
  if (!place.is_list()) return place.cost();
  if (items == 0 || place.size() != items) {
    place.expected(items == 0 ? "a number" : "a number, or one per dimension (" + std::to_string(items) + ")");
  }
  return place.item(index).cost();
}

std::optional<double> bandwidth_at(const JsonPlace& bandwidths, const std::string& key, std::size_t index = 0,
                                   std::size_t items = 0) {
  if (!bandwidths.has(key)) return std::nullopt;
  const double value = cost_at(bandwidths, key, index, items);
  if (!(value >= 1 / kMaxCost)) bandwidths.field(key).expected("numbers above 1e-100");
  return value;
}

Step step_at(const JsonPlace& network, const std::string& key, double otherwise, std::size_t index = 0,
             std::size_t items = 0) {
  Step step{network.has(key) ? cost_at(network, key, index, items) : otherwise};
  if (network.has("latency_s")) {
    const JsonPlace latency = network.field("latency_s");
    if (latency.has(key)) step.latency = cost_at(latency, key, index, items);
  }
  if (network.has(kBandwidth)) step.bandwidth = bandwidth_at(network.field(kBandwidth), key, index, items);
  return step;
}

Torus read_torus(const JsonPlace& network) {
  Torus torus;
  const JsonPlace sizes = network.field("dims");
  if (sizes.size() == 0 || sizes.size() > kMaxDimensions) {
    sizes.expected("1 to " + std::to_string(kMaxDimensions) + " sizes");
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    torus.sizes.push_back(static_cast<int>(sizes.item(i).integer(1, kMostParts)));
    torus.steps.push_back(step_at(network, "hop", 1, i, sizes.size()));
    torus.wraps.push_back(1);
  }
  if (network.has("wrap")) {
    const JsonPlace wrap = network.field("wrap");
    if (wrap.is_list() && wrap.size() != sizes.size()) wrap.expected("true, false, or one of them a dimension");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      torus.wraps[i] = (wrap.is_list() ? wrap.item(i).truth() : wrap.truth()) ? 1 : 0;
    }
  }
  torus.nodes_per_router = whole(network, "nodes_per_router", 1);
  torus.link = step_at(network, "node_link", torus.nodes_per_router > 1 ? 1 : 0);
  return torus;
}

Dragonfly read_dragonfly(const JsonPlace& network) {
  Dragonfly dragonfly;
  dragonfly.groups = static_cast<int>(network.field("groups").integer(1, kMostParts));
  dragonfly.routers_per_group = static_cast<int>(network.field("routers_per_group").integer(1, kMostParts));
  dragonfly.nodes_per_router = whole(network, "nodes_per_router", 1);
  dragonfly.global_links = whole(network, "global_links", 0);
  dragonfly.local = step_at(network, "local", 1);
  dragonfly.global = step_at(network, "global", 1);
  dragonfly.link = step_at(network, "node_link", 1);
  return dragonfly;
}

DistanceTable read_table(const JsonPlace& network, int nodes, const FileReader& read) {
  DistanceTable table{nodes, false, {}};
  if (network.has("unit")) {
    const JsonPlace unit = network.field("unit");
    table.seconds = unit.text() == "s";
    if (!table.seconds && unit.text() != "hops") unit.expected("\"hops\" or \"s\"");
  }
  if (network.has(kBandwidth)) table.bandwidth = bandwidth_at(network.field(kBandwidth), "node_link");
  const auto count = static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nodes);
  if (network.has("file") == network.has("distances")) network.expected("one of \"distances\" and \"file\"");
  if (network.has("file")) {
    const JsonPlace file = network.field("file");
    if (!read) file.expected("\"distances\" instead, since no other file can be read here");
    table.values = read_distances(read(file.text()), file.text(), count);
    return table;
  }
  const JsonPlace rows = network.field("distances");
  if (rows.size() != static_cast<std::size_t>(nodes)) rows.expected(std::to_string(nodes) + " rows, one per host");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const JsonPlace row = rows.item(i);
    if (row.size() != rows.size()) row.expected(std::to_string(nodes) + " distances, one per host");
    for (std::size_t j = 0; j < row.size(); ++j) table.values.push_back(row.item(j).cost());
  }
  return table;
}

// The node of the network that each host is.
std::vector<int> read_positions(const JsonPlace& network, int hosts, std::int64_t nodes) {
  std::vector<int> positions(static_cast<std::size_t>(hosts));
  std::iota(positions.begin(), positions.end(), 0);
  if (!network.has("positions")) {
    if (hosts == nodes) return positions;
    network.field("hosts").mismatch("expected " + std::to_string(nodes) +
                                    " hosts, one a node of the network, or their "
                                    "\"positions\", found " +
                                    std::to_string(hosts));
  }
  const JsonPlace list = network.field("positions");
  if (list.size() != positions.size()) list.expected(std::to_string(hosts) + " positions, one per host");
  std::vector<std::uint8_t> taken(static_cast<std::size_t>(nodes), 0);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    positions[i] = static_cast<int>(list.item(i).integer(0, nodes - 1));
    if (std::exchange(taken[static_cast<std::size_t>(positions[i])], std::uint8_t{1}) != 0) {
      list.item(i).expected("positions that are distinct");
    }
  }
  return positions;
}

NetworkPart spread_hosts(std::vector<Host>::iterator& next, const std::vector<std::int64_t>& arities, std::size_t depth,
                         const std::string& name, std::int64_t below) {
  NetworkPart part;
  part.name = name;
  if (depth == arities.size()) {
    part.hosts.assign(std::move_iterator(next), std::move_iterator(next + below));
    next += below;
    return part;
  }
  const std::string prefix = name.empty() ? "s" : name + ".";
  for (std::int64_t i = 0; i < arities[depth]; ++i) {
    part.switches.push_back(spread_hosts(next, arities, depth + 1, prefix + std::to_string(i), below / arities[depth]));
  }
  return part;
}

void write_step(json& network, const std::string& key, const std::vector<Step>& steps) {
  json hops = json::array();
  json latency = json::array();
  json bandwidth = json::array();
  for (const Step& step : steps) {
    hops.push_back(step.hops);
    if (step.latency) latency.push_back(*step.latency);
    if (step.bandwidth) bandwidth.push_back(*step.bandwidth);
  }
  const auto one_or_all = [](const json& list) { return list.size() == 1 ? list[0] : list; };
  network[key] = one_or_all(hops);
  if (latency.size() == steps.size()) network["latency_s"][key] = one_or_all(latency);
  if (bandwidth.size() == steps.size()) network[kBandwidth][key] = one_or_all(bandwidth);
}

void write_network(const Torus& torus, json& network) {
  network["kind"] = "torus";
  network["dims"] = torus.sizes;
  for (const std::uint8_t wraps : torus.wraps) network["wrap"].push_back(wraps != 0);
  network["nodes_per_router"] = torus.nodes_per_router;
  write_step(network, "hop", torus.steps);
  write_step(network, "node_link", {torus.link});
}

void write_network(const Dragonfly& dragonfly, json& network) {
  network["kind"] = "dragonfly";
  network["groups"] = dragonfly.groups;
  network["routers_per_group"] = dragonfly.routers_per_group;
  network["nodes_per_router"] = dragonfly.nodes_per_router;
  if (dragonfly.global_links > 0) network["global_links"] = dragonfly.global_links;
  write_step(network, "local", {dragonfly.local});
  write_step(network, "global", {dragonfly.global});
  write_step(network, "node_link", {dragonfly.link});
}

void write_network(const DistanceTable& table, json& network) {
  network["kind"] = "matrix";
  network["unit"] = table.seconds ? "s" : "hops";
  if (table.bandwidth) network[kBandwidth]["node_link"] = *table.bandwidth;
  const auto nodes = static_cast<std::ptrdiff_t>(table.nodes);
  for (std::ptrdiff_t i = 0; i < nodes; ++i) {
    const auto row = table.values.begin() + i * nodes;
    network["distances"].push_back(std::vector<double>(row, row + nodes));
  }
}

}  // namespace

std::optional<Interconnect> read_interconnect(const JsonPlace& network, int hosts, const FileReader& read) {
  const JsonPlace kind = network.field("kind");
  const std::string name = kind.text();
  if (name == "fat-tree") return std::nullopt;
  Interconnect::Network described;
  if (name == "torus") {
    described = read_torus(network);
  } else if (name == "dragonfly") {
    described = read_dragonfly(network);
  } else if (name == "matrix") {
    described = read_table(network, hosts, read);
  } else {
    kind.expected("\"torus\", \"dragonfly\", \"fat-tree\" or \"matrix\"");
  }
  const std::int64_t nodes = core::topo::node_count(described);
  return Interconnect(std::move(described), read_positions(network, hosts, nodes));
}

NetworkPart read_fat_tree(const JsonPlace& network, NetworkPart part) {
  const JsonPlace list = network.field("arities");
  if (list.size() == 0 || list.size() > kMaxSwitchLevels) {
    list.expected("1 to " + std::to_string(kMaxSwitchLevels) + " levels");
  }
  std::vector<std::int64_t> arities;
  std::int64_t product = 1;
  const auto hosts = static_cast<std::int64_t>(part.hosts.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    arities.push_back(list.item(i).integer(1, kMostParts));
    if (arities.back() > kMostParts / product) list.expected("at most " + std::to_string(kMostParts) + " hosts");
    product *= arities.back();
  }
  if (product != hosts) {
    network.field("hosts").mismatch("expected " + std::to_string(product) +
                                    " hosts, the product of the arities, found " + std::to_string(hosts));
  }
  arities.pop_back();  // hosts below each lowest switch
  const std::vector<int> positions = read_positions(network, static_cast<int>(hosts), hosts);
  std::vector<Host> in_order(part.hosts.size());
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    in_order[static_cast<std::size_t>(positions[i])] = std::move(part.hosts[i]);
  }
  auto next = in_order.begin();
  NetworkPart tree = spread_hosts(next, arities, 0, "", hosts);
  tree.name = part.name;
  return tree;
}

std::vector<double> read_distances(std::string_view bytes, const std::string& origin, std::size_t count) {
  TextReader file(bytes, origin);
  std::vector<double> values;
  while (file.next_data_line("#")) {
    while (!file.at_line_end()) {
      const std::string_view word = file.word();
      if (word.starts_with('#')) break;
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size() || !(value >= 0 && value <= kMaxCost)) {
        file.refuse("expected a number from 0 to 1e100, found '" + std::string(word.substr(0, 40)) + "'");
      }
      if (values.size() == count) file.refuse("expected " + std::to_string(count) + " distances in all, found more");
      values.push_back(value);
    }
  }
  if (values.size() < count) {
    file.refuse_at(file.line_number() + 1, "the file ends, expected " + std::to_string(count) +
                                               " distances in all, found " + std::to_string(values.size()));
  }
  return values;
}

std::vector<core::topo::Uplinks> read_uplinks(const JsonPlace& place, std::size_t levels) {
  if (place.is_list() && place.size() != levels) {
    place.expected("an object, or one for each level of switches (" + std::to_string(levels) + ")");
  }
  std::vector<core::topo::Uplinks> uplinks(levels);
  for (std::size_t i = 0; i < levels; ++i) {
    const JsonPlace each = place.is_list() ? place.item(i) : place;
    uplinks[i].bandwidth = bandwidth_at(each, kBandwidth);
    if (!each.has("oversubscription")) continue;
    uplinks[i].oversubscription = each.field("oversubscription").cost();
    if (uplinks[i].oversubscription < 1 / kMaxCost) each.field("oversubscription").expected("a number above 1e-100");
  }
  return uplinks;
}

void write_uplinks(const std::vector<core::topo::Uplinks>& uplinks, json& network) {
  for (const core::topo::Uplinks& each : uplinks) {
    json entry = json::object();
    if (each.bandwidth) entry[kBandwidth] = *each.bandwidth;
    if (!each.bandwidth) entry["oversubscription"] = each.oversubscription;
    network["uplinks"].push_back(std::move(entry));
  }
}

void write_interconnect(const Interconnect& interconnect, json& network) {
  std::visit([&](const auto& each) { write_network(each, network); }, interconnect.network());
  network["positions"] = interconnect.positions();
}

}  // namespace ranktree::io
