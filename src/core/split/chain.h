// The objects of the machine that contain one rank, outermost first (hsplit-2018 §4.1, Algorithm 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::split {

// One object that contains a rank.
struct Link {
  topo::Kind kind = topo::Kind::kNode;
  std::int64_t id = 0;  // distinguishes siblings of one kind; not negative
  bool operator==(const Link&) const = default;
};

using Chain = std::vector<Link>;

// Longer chains are cut. The limit holds all of hwloc's kinds and twice the network levels of the largest known
// machines.
inline constexpr std::size_t kMaxDepth = 32;

// A link as one number without its top bit; different links have different codes.
std::uint64_t code_of(const Link& link);
Link link_of(std::uint64_t code);

// The name of chain[position] that MPI programs see, as in a machine's tree: hwloc's long name ("L3Cache", "NUMANode"),
// "Node", "Switch0", "Switch1", ... from the outside in.
std::string type_name(std::span<const Link> chain, std::size_t position);

// hwloc's own name of a kind, for MPI's "hwloc://" URIs alone: there a node is "Machine".
std::string_view resource_name(topo::Kind kind);

// The number that represents the name of a switch or a node: the same on every rank. 58 bits, so a collision occurs
// once in 10^9 networks of 10^4 switches.
std::int64_t name_id(std::string_view name);

// The objects of one node that contain a binding. Made once from a node's tree, queried often.
class NodeMap {
 public:
  explicit NodeMap(const topo::Tree& node);

  // The part of a chain below the node, for a rank that may run on the PUs with these operating-system numbers. Objects
  // with the same PUs are one link under the name that comes first in: NUMANode, Package, Die, caches from L5 to L1,
  // Core, PU, Group. Its id is the logical number among all objects of that kind. Empty for a binding that has no PU,
  // has a PU the node lacks, or is wider than every object. O(PUs + depth).
  [[nodiscard]] Chain locate(std::span<const int> pus) const;

  // Every object below the root that contains the binding, including those that locate() merges and the NUMA node of a
  // machine that has only one.
  [[nodiscard]] Chain locate_all(std::span<const int> pus) const;

  // The kinds of object in this node, the root's first.
  [[nodiscard]] const std::vector<topo::Kind>& kinds() const { return kinds_; }

 private:
  [[nodiscard]] topo::Object container(std::span<const int> pus) const;
  [[nodiscard]] Link link(topo::Object object) const;

  topo::Tree node_;
  std::vector<std::int32_t> logical_;   // object -> number among those of its kind, from left to right
  std::vector<topo::Leaf> leaf_of_pu_;  // operating-system number -> leaf, -1 where there is none
  std::vector<topo::Kind> kinds_;
  bool one_numa_node_ = false;
};

}  // namespace ranktree::core::split
