#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bind.h"
#include "core/base/error.h"
#include "core/topo/bundle.h"
#include "core/topo/forbid.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/machine.h"
#include "core/topo/tree.h"
#include "hw/machine.h"
#include "io/machine_file.h"
#include "io/network.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

namespace topo = ranktree::core::topo;
using topo::Tree;

[[noreturn]] void refuse(const std::string& text) { throw ranktree::core::Error(ranktree::core::Fault::kInput, text); }

void require_leaf(const Tree& tree, int leaf) {
  if (leaf < 0 || leaf >= tree.leaf_count()) {
    refuse("leaf: expected 0.." + std::to_string(tree.leaf_count() - 1) + ", found " + std::to_string(leaf));
  }
}

void require_object(const Tree& tree, int object) {
  if (object < 0 || object >= tree.object_count()) refuse("object " + std::to_string(object) + " does not exist");
}

Tree with_metric(const Tree& tree, const std::string& name) {
  if (name == "hops") return tree.with_metric(topo::Metric::kHops);
  if (name == "latency") return tree.with_metric(topo::Metric::kLatency);
  if (name == "bandwidth") return tree.with_metric(topo::Metric::kBandwidth);
  refuse("cost: expected hops, latency or bandwidth, found '" + name + "'");
}

Tree cut_at(const Tree& tree, const std::string& name) {
  const auto kind = topo::kind_from_name(name);
  if (!kind) refuse("unit: expected the name of a kind of level, found '" + name + "'");
  return tree.cut_at(*kind);
}

// One dictionary an object: what a printer or a test needs to know.
nb::dict describe(const Tree& tree, int object) {
  require_object(tree, object);
  nb::dict result;
  result["kind"] = topo::level_name(tree, tree.level_of(object));
  result["level"] = tree.level_of(object);
  result["os_index"] = tree.os_index(object);
  result["name"] = std::string(tree.name(object));
  result["first_child"] = tree.first_child(object);
  result["children"] = tree.child_count(object);
  result["first_leaf"] = tree.first_leaf(object);
  result["leaves"] = tree.leaves_below(object);
  return result;
}

std::string host_of(const Tree& tree, int leaf) {
  require_leaf(tree, leaf);
  const topo::Object node = tree.node_of(leaf);
  return node < 0 ? std::string() : std::string(tree.name(node));
}

std::vector<double> level_costs(const Tree& tree) {
  std::vector<double> costs;
  for (int level = 0; level < tree.level_count(); ++level) costs.push_back(tree.cost(level));
  return costs;
}

Tree load_machine(const std::string& machine, const std::optional<std::string>& network) {
  Tree tree = ranktree::hw::load_tree(machine);
  return network ? ranktree::hw::machine_in_network(ranktree::io::load_network(*network), tree) : tree;
}

// In words, with the farthest two nodes; nothing where the network is a tree.
std::optional<std::string> network_text(const Tree& tree) {
  const topo::Interconnect* network = tree.interconnect();
  if (network == nullptr) return std::nullopt;
  const std::string hosts = std::to_string(network->hosts()) + " nodes";
  if (const auto* torus = std::get_if<topo::Torus>(&network->network())) {
    std::string sizes;
    for (const int size : torus->sizes) sizes += (sizes.empty() ? "" : " x ") + std::to_string(size);
    return "torus " + sizes + ", " + hosts;
  }
  if (const auto* dragonfly = std::get_if<topo::Dragonfly>(&network->network())) {
    return "dragonfly of " + std::to_string(dragonfly->groups) + " groups of " +
           std::to_string(dragonfly->routers_per_group) + " routers, " + hosts;
  }
  return "distances of " + hosts;
}

}  // namespace

void bind_topo(nb::module_& module) {
  nb::class_<Tree>(module, "Tree", "The machine as one tree; leaves are the places where one rank can sit.")
      .def_prop_ro("levels", &topo::level_names, "name of each level, root first")
      .def_prop_ro("described", &topo::has_described_nodes, "whether a description made up the names of the nodes")
      .def_prop_ro("costs", &level_costs, "cost between two leaves that meet on each level")
      .def_prop_ro("network", &network_text, "the network in words where it is no tree, else None")
      .def_prop_ro("leaf_count", &Tree::leaf_count)
      .def_prop_ro("object_count", &Tree::object_count)
      .def("describe", &describe, "object"_a, "kind, name, number, children and leaves of an object; 0 is the root")
      .def(
          "allowed", [](const Tree& tree, int leaf) { return require_leaf(tree, leaf), tree.allowed(leaf); }, "leaf"_a,
          "whether a rank may use the leaf")
      .def(
          "pus",
          [](const Tree& tree, int leaf) {
            require_leaf(tree, leaf);
            const auto pus = tree.pus(leaf);
            return std::vector<int>(pus.begin(), pus.end());
          },
          "leaf"_a, "operating-system numbers of a leaf's PUs")
      .def("host", &host_of, "leaf"_a, "name of the node a leaf is in")
      .def(
          "common_level",
          [](const Tree& tree, int a, int b) {
            return require_leaf(tree, a), require_leaf(tree, b), tree.common_level(a, b);
          },
          "leaf_a"_a, "leaf_b"_a, "level of the lowest common ancestor")
      .def(
          "distance",
          [](const Tree& tree, int a, int b) {
            return require_leaf(tree, a), require_leaf(tree, b), tree.distance(a, b);
          },
          "leaf_a"_a, "leaf_b"_a)
      .def("with_metric", &with_metric, "cost"_a, "a copy whose distances are hops, latency or bandwidth")
      .def(
          "with_costs", [](const Tree& tree, const std::vector<double>& costs) { return tree.with_costs(costs); },
          "costs"_a, "a copy with the given cost of each level above the leaves")
      .def(
          "with_allowed", [](const Tree& tree, const std::vector<int>& leaves) { return tree.with_allowed(leaves); },
          "leaves"_a, "a copy in which only these leaves may be used")
      .def(
          "forbid",
          [](const Tree& tree, const std::optional<std::string>& host, const std::vector<int>& pus) {
            return topo::forbid(tree, host, pus);
          },
          "host"_a.none(), "pus"_a,
          "a copy in which no leaf that owns one of these PUs may be used; None: on every host")
      .def("cut_at", &cut_at, "kind"_a, "a copy whose leaves are the objects of a kind, each owning the PUs below it")
      .def("bundle_leaves", &topo::bundle_leaves, "count"_a,
           "a copy whose leaves are bundles of so many: places for ranks of several threads")
      .def("__len__", &Tree::leaf_count);
  module.def("load_machine", &load_machine, "machine"_a = "live", "network"_a = nb::none(),
             "A machine: 'live', XML or JSON paths, or a synthetic description. With a file of switches: its "
             "network, every host of which is such a node.");
  module.def(
      "save_machine",
      [](const std::string& path, const Tree& tree) { ranktree::io::save_machine(path, topo::to_machine(tree)); },
      "path"_a, "tree"_a, "Writes a JSON machine file, completely or not at all.");
}
