// The machine as one tree (treematch-2013 §2.2): switches, nodes, packages, ... down to the leaves; a leaf holds one
// rank. A value: built once by a TreeBuilder, immutable afterwards, safe to share between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/index.h"
#include "core/topo/kind.h"

namespace ranktree::core::topo {

// The links from each switch of one level up to the next: the bandwidth of all of them together.
struct Uplinks {
  double oversubscription = 1;      // of the links below the switch: how many times more they carry than those up
  std::optional<double> bandwidth;  // bytes per second in one direction; then oversubscription does not count

  bool operator==(const Uplinks&) const = default;
};

// One level of the tree. Level 0 is the root; the last level holds the leaves.
struct Level {
  Kind kind = Kind::kGroup;
  std::optional<double> latency;    // seconds between two leaves whose lowest common ancestor is on this level
  std::optional<double> bandwidth;  // bytes per second, same meaning
  bool described = false;           // of the nodes: a description made up their names, no host has them
  Uplinks uplinks;                  // of switches
};

// What distance() measures.
enum class Metric : std::uint8_t {
  kHops,       // edges on the path through the lowest common ancestor, levels that never branch not counted
  kLatency,    // seconds
  kBandwidth,  // seconds per byte (1 / bandwidth)
  kGiven       // values from the caller, one for each level
};

using Object = std::int32_t;  // index of an object (a vertex of the tree); 0 is the root
using Leaf = std::int32_t;  // index of a leaf, 0 .. leaf_count()-1, numbered depth first from the left (logical number)

class Interconnect;
class TreeBuilder;

class Tree {
 public:
  [[nodiscard]] int level_count() const { return static_cast<int>(levels_.size()); }
  [[nodiscard]] const Level& level(int index) const { return levels_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] Object object_count() const { return static_cast<Object>(parent_.size()); }
  [[nodiscard]] Leaf leaf_count() const { return static_cast<Leaf>(leaf_object_.size()); }

  // -1 for the root.
  [[nodiscard]] Object parent(Object object) const { return parent_[at(object)]; }
  // Children are consecutive objects: first_child(object) .. first_child(object) + child_count(object) - 1.
  [[nodiscard]] Object first_child(Object object) const { return first_child_[at(object)]; }
  [[nodiscard]] int child_count(Object object) const { return child_count_[at(object)]; }
  // A child may skip levels (a node without an L3), so depth in edges is not the level.
  [[nodiscard]] int level_of(Object object) const { return level_of_[at(object)]; }
  // The leaves below an object are consecutive: first_leaf(object) .. first_leaf(object) + leaves_below(object) - 1.
  [[nodiscard]] Leaf first_leaf(Object object) const { return first_leaf_[at(object)]; }
  [[nodiscard]] Leaf leaves_below(Object object) const { return leaves_below_[at(object)]; }
  // The operating system's number within its node (PU, NUMA node, package), -1 where there is none.
  [[nodiscard]] int os_index(Object object) const { return os_index_[at(object)]; }
  // Host name of a Node, name of a Switch, empty elsewhere.
  [[nodiscard]] std::string_view name(Object object) const { return names_[at(name_of_[at(object)])]; }
  [[nodiscard]] Object leaf_object(Leaf leaf) const { return leaf_object_[at(leaf)]; }
  // False when a cgroup, an affinity mask or the caller forbids this leaf.
  [[nodiscard]] bool allowed(Leaf leaf) const { return allowed_[at(leaf)] != 0; }
  // The PUs of a leaf by operating-system number: one for a PU leaf, all hardware threads for a Core leaf.
  [[nodiscard]] std::span<const int> pus(Leaf leaf) const;
  // The ancestor of kind Node, -1 when the tree has no such level.
  [[nodiscard]] Object node_of(Leaf leaf) const;

  // Level of the lowest common ancestor of two leaves; the last level when they are the same leaf. O(depth).
  [[nodiscard]] int common_level(Leaf a, Leaf b) const;
  // Cost of a level under the tree's metric; 0 on the last level. See with_metric() and with_costs().
  [[nodiscard]] double cost(int level) const { return cost_[at(level)]; }
  // cost(common_level(a, b)): 0 when a == b. O(depth). Between nodes of a network that is not a tree: the cost of the
  // Node level, which is the path out of one node and into another, plus the network's distance of the two nodes.
  [[nodiscard]] double distance(Leaf a, Leaf b) const;
  [[nodiscard]] Metric metric() const { return metric_; }
  // The distances between nodes, numbered in tree order (os_index), where the network is not a tree; else null. The
  // level above the nodes then costs the distance of the nearest two nodes.
  [[nodiscard]] const Interconnect* interconnect() const { return interconnect_.get(); }

  // A copy with another metric. Throws Error(kUnsupported), naming the level, when its latency or bandwidth is unknown.
  [[nodiscard]] Tree with_metric(Metric metric) const;
  // A copy with the given cost for each level (levels 0 .. level_count()-2, non-negative and finite; the last is 0).
  // Its network is a tree.
  [[nodiscard]] Tree with_costs(std::span<const double> costs) const;
  // A copy with a network that is not a tree. Throws Error(kMismatch) unless the root's children are the nodes, one per
  // host.
  [[nodiscard]] Tree with_interconnect(std::shared_ptr<const Interconnect> interconnect) const;
  // A copy in which only the given leaves are allowed.
  [[nodiscard]] Tree with_allowed(std::span<const Leaf> leaves) const;
  // A copy cut at a level: every object of that kind becomes a leaf that owns all PUs below it (Kind::kCore: one rank
  // per core). Leaves of branches that lack the kind stay. The same tree when the last level already has that kind.
  [[nodiscard]] Tree cut_at(Kind kind) const;

 private:
  friend class TreeBuilder;
  void measure_network(Metric metric);
  void connect(std::shared_ptr<const Interconnect> interconnect);
  void give_leaf(TreeBuilder& builder, std::int32_t handle, Object object) const;

  std::vector<Level> levels_;
  std::vector<double> cost_;
  std::shared_ptr<const Interconnect> interconnect_;
  Metric metric_ = Metric::kHops;
  std::vector<Object> parent_, first_child_;
  std::vector<std::int32_t> child_count_, level_of_, os_index_, name_of_;
  std::vector<Leaf> first_leaf_, leaves_below_;
  std::vector<std::string> names_;  // distinct names; names_[0] is empty
  std::vector<Object> leaf_object_;
  std::vector<std::uint8_t> allowed_;
  std::vector<std::int64_t> pu_offset_;  // leaf -> range of pu_numbers_
  std::vector<int> pu_numbers_;
};

// Builds a Tree from the root down. Objects may be added in any order as long as a parent precedes its children.
class TreeBuilder {
 public:
  // The levels, root first. Throws Error(kInput) when there is none.
  explicit TreeBuilder(std::vector<Level> levels);
  // Returns a handle to pass as a parent; the first call makes the root (parent -1, level 0).
  std::int32_t add(std::int32_t parent, int level, int os_index = -1, std::string_view name = {});
  // For leaves only: the PUs they own (default: the leaf's os_index), and whether they may be used.
  void set_pus(std::int32_t leaf, std::vector<int> pus);
  void forbid(std::int32_t leaf);
  // Checks the tree (one root, children on deeper levels, every childless object on the last level) and numbers it.
  // Throws Error(kInput).
  [[nodiscard]] Tree build() &&;

 private:
  struct Draft {
    std::int32_t parent;
    std::int32_t level;
    std::int32_t os_index;
    std::string name;
    std::vector<int> pus;
    bool allowed;
  };
  // Leaves are numbered from left to right; order maps objects to drafts.
  void number_leaves(Tree& tree, std::span<const std::int32_t> order);

  std::vector<Level> levels_;
  std::vector<Draft> drafts_;
};

// The symmetric tree: arities[i] children for each object of level i; levels.size() == arities.size() + 1. Leaves get
// os_index 0.. within their Node (or within the tree when there is none); nodes are named n0, n1, ...
Tree uniform_tree(std::span<const Level> levels, std::span<const int> arities);

// The name of a level: its kind; levels of switches are numbered from the outside in: "Switch0", "Switch1", ...
std::string level_name(const Tree& tree, int level);

// The names of all levels, root first.
std::vector<std::string> level_names(const Tree& tree);

// Whether a description made up the names of the nodes. False for a tree without nodes.
bool has_described_nodes(const Tree& tree);

}  // namespace ranktree::core::topo
