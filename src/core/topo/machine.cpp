#include "core/topo/machine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/kind_builder.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {
namespace {

[[noreturn]] void refuse_machine(const std::string& text) { throw Error(Fault::kInput, "machine: " + text); }

// Builds the tree of a machine from its network downwards.
class Joiner {
 public:
  explicit Joiner(const Machine& machine) : machine_(machine) {}

  Tree join() {
    const NetworkPart& network = machine_.network;
    if (network.switches.empty() && network.hosts.size() == 1) {
      add_host(-1, network.hosts.front());
    } else {
      add_part(builder_.add(-1, Kind::kCluster, -1, network.name), network);
    }
    return std::move(builder_).build([this](const LevelKey& key) { return level_of(key); });
  }

 private:
  [[nodiscard]] Level level_of(const LevelKey& key) const {
    Level level{key.first, {}, {}, key.first == Kind::kNode && machine_.described, {}};
    const bool up = key.first == Kind::kSwitch && at(key.second) < machine_.uplinks.size();
    if (up) level.uplinks = machine_.uplinks[at(key.second)];
    const auto cost = machine_.costs.find(key.first);
    if (cost == machine_.costs.end()) return level;
    level.latency = cost->second.latency;
    level.bandwidth = cost->second.bandwidth;
    return level;
  }

  void add_part(std::int32_t handle, const NetworkPart& part) {
    for (const NetworkPart& child : part.switches) {
      add_part(builder_.add(handle, Kind::kSwitch, switches_++, child.name), child);
    }
    if (part.switches.empty() && part.hosts.empty()) {
      refuse_machine(part.name.empty() ? "expected at least one host, found none"
                                       : "switch '" + part.name + "' has neither switches nor hosts");
    }
    for (const Host& host : part.hosts) add_host(handle, host);
  }

  void add_host(std::int32_t parent, const Host& host) {
    if (host.shape < 0 || at(host.shape) >= machine_.shapes.size())
      refuse_machine("host '" + host.name + "' has no shape");
    if (!host.name.empty() && !is_host_name(host.name)) {
      refuse_machine("expected host names of letters, digits, '.', '-' and '_', found '" + host.name + "'");
    }
    if (!hosts_.insert(host.name).second) refuse_machine("host '" + host.name + "' is named twice");
    const Tree& shape = machine_.shapes[at(host.shape)];
    leaves_ += shape.leaf_count();
    if (leaves_ > kMaxLeaves) refuse_machine(too_many_leaves());
    std::vector<std::int32_t> handle(at(shape.object_count()));
    for (Object object = 0; object < shape.object_count(); ++object) {
      const bool root = object == 0;
      handle[at(object)] = builder_.add(
          root ? parent : handle[at(shape.parent(object))], shape.level(shape.level_of(object)).kind,
          root ? static_cast<int>(hosts_.size()) - 1 : shape.os_index(object), root ? host.name : std::string());
    }
    for (Leaf leaf = 0; leaf < shape.leaf_count(); ++leaf) {
      const auto pus = shape.pus(leaf);
      const bool itself = pus.size() == 1 && pus.front() == shape.os_index(shape.leaf_object(leaf));
      if (!itself) builder_.set_pus(handle[at(shape.leaf_object(leaf))], {pus.begin(), pus.end()});
      if (!shape.allowed(leaf)) builder_.forbid(handle[at(shape.leaf_object(leaf))]);
    }
  }

  const Machine& machine_;
  KindBuilder builder_;
  std::set<std::string> hosts_;
  std::int64_t leaves_ = 0;
  int switches_ = 0;
};

bool alike(const Tree& a, const Tree& b) {
  if (a.object_count() != b.object_count() || a.level_count() != b.level_count()) return false;
  for (int level = 0; level < a.level_count(); ++level) {
    if (a.level(level).kind != b.level(level).kind) return false;
  }
  for (Object object = 0; object < a.object_count(); ++object) {
    if (a.parent(object) != b.parent(object) || a.level_of(object) != b.level_of(object)) return false;
    if (object > 0 && a.os_index(object) != b.os_index(object)) return false;
  }
  for (Leaf leaf = 0; leaf < a.leaf_count(); ++leaf) {
    const auto left = a.pus(leaf);
    const auto right = b.pus(leaf);
    if (a.allowed(leaf) != b.allowed(leaf) || !std::equal(left.begin(), left.end(), right.begin(), right.end())) {
      return false;
    }
  }
  return true;
}

// Splits a tree into its network and the shapes of its nodes.
class Splitter {
 public:
  explicit Splitter(const Tree& tree) : tree_(tree) {}

  Machine split() {
    for (int level = 0; level < tree_.level_count(); ++level) {
      const Level& each = tree_.level(level);
      if (each.latency || each.bandwidth) machine_.costs[each.kind] = {each.latency, each.bandwidth};
      if (each.kind == Kind::kSwitch) machine_.uplinks.push_back(each.uplinks);
    }
    const bool some = std::any_of(machine_.uplinks.begin(), machine_.uplinks.end(),
                                  [](const Uplinks& each) { return each != Uplinks{}; });
    if (!some) machine_.uplinks.clear();
    visit(0, machine_.network);
    machine_.described = has_described_nodes(tree_);
    return std::move(machine_);
  }

 private:
  void visit(Object object, NetworkPart& part) {
    const Kind kind = tree_.level(tree_.level_of(object)).kind;
    if (kind == Kind::kNode) {
      part.hosts.push_back({std::string(tree_.name(object)), machine_.add_shape(shape_of(object))});
      return;
    }
    if (kind > Kind::kNode) throw Error(Fault::kUnsupported, "machine: expected nodes in the tree, found none");
    NetworkPart* inside = &part;
    if (kind == Kind::kSwitch) inside = &part.switches.emplace_back();
    inside->name = tree_.name(object);
    for (int i = 0; i < tree_.child_count(object); ++i) visit(tree_.first_child(object) + i, *inside);
  }

  // The part of the tree below a node, with the levels that occur in it.
  Tree shape_of(Object node) {
    std::vector<Object> objects{node};
    std::set<int> used;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      used.insert(tree_.level_of(objects[i]));
      for (int child = 0; child < tree_.child_count(objects[i]); ++child) {
        objects.push_back(tree_.first_child(objects[i]) + child);
      }
    }
    std::map<int, int> index;
    std::vector<Level> levels;
    for (const int level : used) {
      index[level] = static_cast<int>(levels.size());
      levels.push_back({tree_.level(level).kind, {}, {}});
    }
    TreeBuilder builder(std::move(levels));
    std::map<Object, std::int32_t> handle{{node, builder.add(-1, 0)}};
    for (std::size_t i = 1; i < objects.size(); ++i) {
      const Object object = objects[i];
      handle[object] =
          builder.add(handle.at(tree_.parent(object)), index.at(tree_.level_of(object)), tree_.os_index(object));
    }
    for (Leaf leaf = tree_.first_leaf(node); leaf < tree_.first_leaf(node) + tree_.leaves_below(node); ++leaf) {
      const auto pus = tree_.pus(leaf);
      builder.set_pus(handle.at(tree_.leaf_object(leaf)), {pus.begin(), pus.end()});
      if (!tree_.allowed(leaf)) builder.forbid(handle.at(tree_.leaf_object(leaf)));
    }
    return std::move(builder).build();
  }

  const Tree& tree_;
  Machine machine_;
};

}  // namespace

int switch_depth(const NetworkPart& part) {
  int depth = 0;
  for (const NetworkPart& child : part.switches) depth = std::max(depth, 1 + switch_depth(child));
  return depth;
}

bool is_host_name(std::string_view name) {
  constexpr std::size_t kLongest = 255;
  const auto allowed = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '.' || letter == '-' || letter == '_';
  };
  return !name.empty() && name.size() <= kLongest && name.front() != '-' && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), allowed);
}

int Machine::add_shape(Tree node) {
  const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const Tree& each) { return alike(each, node); });
  if (found != shapes.end()) return static_cast<int>(found - shapes.begin());
  shapes.push_back(std::move(node));
  return static_cast<int>(shapes.size()) - 1;
}

std::string too_many_leaves() {
  return "expected at most " + std::to_string(kMaxLeaves) + " leaves, 4 GB in a tree, found more";
}

Tree to_tree(const Machine& machine) {
  Tree tree = Joiner(machine).join();
  if (!machine.interconnect || machine.network.hosts.size() == 1) return tree;
  return tree.with_interconnect(std::make_shared<const Interconnect>(*machine.interconnect));
}

Machine to_machine(const Tree& tree) {
  Machine machine = Splitter(tree).split();
  if (tree.interconnect() != nullptr) machine.interconnect = *tree.interconnect();
  return machine;
}

}  // namespace ranktree::core::topo
