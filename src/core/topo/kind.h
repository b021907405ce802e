// The kinds of level a machine tree can have, from the outside in.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ranktree::core::topo {

// Ordered from the root to the leaves. Names are hwloc's; Cluster, Switch and Node stand in front of them.
enum class Kind : std::uint8_t {
  kCluster,  // the root over everything when there is more than one switch or node
  kSwitch,   // one level of the network; several Switch levels may follow each other
  kNode,     // one host with one operating system (hwloc and MPI's "hwloc://" URIs: Machine)
  kGroup,    // hwloc Group
  kPackage,
  kDie,
  kNumaNode,
  kL5,
  kL4,
  kL3,
  kL2,
  kL1,
  kCore,
  kPu  // one hardware thread
};

// hwloc's spelling: "Cluster", "Switch", "Node", "Group", "Package", "Die", "NUMANode", "L3Cache", ..., "Core",
// "PU".
std::string_view kind_name(Kind kind);

// Accepts every spelling hwloc's synthetic grammar accepts ("pack", "numa", "l3", "L3Cache", "pu", ...), in any
// letter case, and "switch", "node", "cluster"; nothing when the word names no kind.
std::optional<Kind> kind_from_name(std::string_view word);

}  // namespace ranktree::core::topo
