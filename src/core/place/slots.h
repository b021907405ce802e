// The slots of a machine: its allowed leaves, each once for every rank that it can hold.
#pragma once

#include <vector>

#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

// The allowed leaves in logical order, each `capacity` times.
std::vector<topo::Leaf> slots_of(const topo::Tree& tree, const Constraints& constraints);

// Throws Error(kMismatch), naming both numbers and what to do, when there are more ranks than slots.
void require_slots(const topo::Tree& tree, pattern::Rank ranks, const Constraints& constraints);

}  // namespace ranktree::core::place
