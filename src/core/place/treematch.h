// TreeMatch exactly as treematch-2013 §4 describes it. The faithful reference for every later engine.
#pragma once

#include <cstdint>

#include "core/place/placement.h"

namespace ranktree::core::place {

struct TreeMatchOptions {
  Constraints constraints;
  double group_threshold = 30000;         // T_h (§4.2.2): FastGroupProcesses is used from this many possible groups on
  std::int64_t degree_threshold = 20000;  // §4.1: "largest weighted degrees first" is skipped above this many groups
  int buckets = 8;                        // §4.2.2
  bool divide_arities = true;             // §4.2.1
  std::uint64_t seed = 1;                 // FastGroupProcesses draws a sample
};

Placement treematch(const topo::Tree& tree, const pattern::Affinity& affinity, const TreeMatchOptions& options);

}  // namespace ranktree::core::place
