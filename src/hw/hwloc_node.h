// One node's topology by hwloc, as a core tree whose root is the Node.
//
// Kinds are hwloc's. Instruction caches are left out. A NUMA node, which hwloc 2 hangs beside its tree, becomes a level
// where it belongs to a part of the node: below its package, die or group, above its cache; a group that is there for
// its NUMA node's sake gives way to it. The one NUMA node of a whole machine makes no level.
#pragma once

#include <string>
#include <string_view>

#include "core/topo/tree.h"

namespace ranktree::hw {

// This machine, whole; leaves outside the cgroup or the process's affinity are marked as not allowed.
core::topo::Tree live_node();

// An XML file's bytes (hwloc 1.x or 2.x). Throws Error(kInput).
core::topo::Tree read_hwloc_xml(std::string_view bytes, const std::string& origin);

// hwloc's synthetic grammar. Throws Error(kInput); `PUs` are bounded by kMaxNodePus before hwloc sees the text.
core::topo::Tree synthetic_node(const std::string& description);

inline constexpr long kMaxNodePus = 4'096;  // hwloc 2.9 takes quadratic time for flat nodes: 1 s for this many

}  // namespace ranktree::hw
