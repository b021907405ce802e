// One node's topology from hwloc, as a core tree whose root is the Node.
//
// Kinds are hwloc's. Instruction caches are left out. A NUMA node, which hwloc 2 attaches beside its tree, becomes a
// level where it belongs to a part of the node: below its package, die or group, above its cache. It replaces a group
// that exists only for it. The only NUMA node of a machine does not become a level.
#pragma once

#include <string>
#include <string_view>

#include "core/topo/tree.h"

namespace ranktree::hw {

// This whole machine; leaves outside the cgroup or the process's affinity mask are marked as not allowed.
core::topo::Tree live_node();

// An XML file's bytes (hwloc 1.x or 2.x). Throws Error(kInput).
core::topo::Tree read_hwloc_xml(std::string_view bytes, const std::string& origin);

// hwloc's synthetic grammar. Throws Error(kInput); kMaxNodePus bounds the PUs before hwloc reads the text.
core::topo::Tree synthetic_node(const std::string& description);

inline constexpr long kMaxNodePus = 4'096;  // hwloc 2.9 takes quadratic time for flat nodes: 1 s for so many PUs

}  // namespace ranktree::hw
