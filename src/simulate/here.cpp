// hw/node_here.h and hw/place_here.h for a rank of a simulation: the objects that contain its host come from the
// machine file.
//
// The simulated host's properties "machine" (a machine file), "unit" (the kind of a leaf) and "leaf" name its place
// (platform_library.cpp). What is kept is one machine a file, which no rank changes.
#include <simgrid/host.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"
#include "core/topo/machine.h"
#include "core/topo/tree.h"
#include "hw/node_here.h"
#include "hw/place_here.h"
#include "io/machine_file.h"
#include "simulate/host_properties.h"

namespace ranktree::hw {
namespace {

namespace topo = core::topo;
using core::Error;
using core::Fault;

void collect_shapes(const topo::NetworkPart& part, std::map<std::string, int>& shape_of) {
  for (const topo::Host& host : part.hosts) shape_of[host.name] = host.shape;
  for (const topo::NetworkPart& below : part.switches) collect_shapes(below, shape_of);  // NOLINT(misc-no-recursion)
}

struct SimulatedMachine {
  SimulatedMachine(const topo::Machine& machine, topo::Kind unit) : tree(topo::to_tree(machine).cut_at(unit)) {
    nodes.reserve(machine.shapes.size());
    for (const topo::Tree& shape : machine.shapes) nodes.emplace_back(shape);
    collect_shapes(machine.network, shape_of);
  }

  topo::Tree tree;
  std::vector<core::split::NodeMap> nodes;  // by shape
  std::map<std::string, int> shape_of;
};

std::string property(const char* name) {
  const sg_host_t host = sg_host_self();
  const char* const value = host != nullptr ? sg_host_get_property_value(host, name) : nullptr;
  if (value == nullptr) {
    throw Error(Fault::kUnsupported, "the simulated host has no property '" + std::string(name) +
                                         "': simulations start with `ranktree simulate`");
  }
  return value;
}

const SimulatedMachine& machine_here() {
  static std::map<std::pair<std::string, std::string>, std::unique_ptr<const SimulatedMachine>> machines;
  auto& known = machines[{property(simulate::kMachine), property(simulate::kUnit)}];
  if (!known) {
    const auto unit = topo::kind_from_name(property(simulate::kUnit)).value_or(topo::Kind::kCore);
    known = std::make_unique<const SimulatedMachine>(io::load_machine(property(simulate::kMachine)), unit);
  }
  return *known;
}

topo::Leaf leaf_here() {
  const std::string text = property(simulate::kLeaf);
  topo::Leaf leaf = -1;
  std::from_chars(text.data(), text.data() + text.size(), leaf);
  if (leaf < 0 || leaf >= machine_here().tree.leaf_count()) {
    throw Error(Fault::kInput,
                "the simulated host's property 'leaf': expected a leaf of the machine, found '" + text + "'");
  }
  return leaf;
}

}  // namespace

std::string host_here() {
  const topo::Tree& tree = machine_here().tree;
  return std::string(tree.name(tree.node_of(leaf_here())));
}

std::vector<int> pus_here() {
  const auto pus = machine_here().tree.pus(leaf_here());
  return {pus.begin(), pus.end()};
}

const core::split::NodeMap& node_map() {
  const SimulatedMachine& machine = machine_here();
  return machine.nodes[static_cast<std::size_t>(machine.shape_of.at(host_here()))];
}

// All that identifies a simulated node is its name.
std::string node_name(NodeIdentity /*identity*/) { return host_here(); }

std::vector<std::string> switches_here(const std::string& source) {
  if (source == "none") return {};
  const topo::Tree& tree = machine_here().tree;
  std::vector<std::string> names;
  for (topo::Object object = tree.parent(tree.node_of(leaf_here())); object >= 0; object = tree.parent(object)) {
    if (tree.level(tree.level_of(object)).kind != topo::Kind::kSwitch) continue;
    names.push_back(tree.name(object).empty() ? "switch" + std::to_string(object) : std::string(tree.name(object)));
  }
  std::reverse(names.begin(), names.end());
  return names;
}

}  // namespace ranktree::hw
