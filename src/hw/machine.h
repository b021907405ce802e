// Where a machine comes from.
#pragma once

#include <string>

#include "core/topo/tree.h"

namespace ranktree::hw {

// What `--machine` takes: "live" or nothing, paths of hwloc XML or JSON files, or a synthetic description.
core::topo::Tree load_tree(const std::string& spec);

}  // namespace ranktree::hw
