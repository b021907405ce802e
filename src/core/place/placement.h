// A placement and its cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

// leaf_of[rank] is the leaf of that rank. At most `capacity` ranks share a leaf (1 unless oversubscribed).
struct Placement {
  std::vector<topo::Leaf> leaf_of;
};

// Traffic by the level of the lowest common ancestor. weight[level] sums the affinity of the pairs of that level, each
// undirected pair once (so with Metric::kSize: bytes in both directions); the last level holds pairs that share a leaf.
struct Cost {
  std::vector<double> weight;  // tree.level_count() entries
  // Sum over levels of weight x tree.cost(level): hop-bytes with kSize and hops. Between nodes of a network that is no
  // tree, each pair's own distance counts.
  double total = 0;
};

// O(pairs x depth). The sums are doubles, exact for whole numbers up to 2^53.
Cost evaluate(const topo::Tree& tree, const pattern::Affinity& affinity, const Placement& placement);

// A rank that must be on a leaf.
struct Pin {
  pattern::Rank rank = 0;
  topo::Leaf leaf = 0;
};

// The constraints of a placement.
struct Constraints {
  int capacity = 1;            // ranks on one leaf, at most
  std::vector<Pin> pins = {};  // each rank once at most
};

// The allowed leaves in logical order, each `capacity` times.
std::vector<topo::Leaf> slots_of(const topo::Tree& tree, const Constraints& constraints);

// Throws Error(kMismatch), naming both numbers and what to do, when there are more ranks than slots.
void require_slots(const topo::Tree& tree, pattern::Rank ranks, const Constraints& constraints);

// Throws Error(kInput) when a pin names no rank, no leaf, or a rank again; Error(kMismatch) when its leaf may not be
// used or takes fewer ranks than are pinned there.
void check_pins(const topo::Tree& tree, pattern::Rank ranks, const Constraints& constraints);

// Pinned ranks on their leaves, the others in order on the rest of these slots.
Placement around_pins(const std::vector<topo::Leaf>& slots, pattern::Rank ranks, const Constraints& constraints);

// The baselines. Each uses allowed leaves only and throws Error(kMismatch) when the ranks do not fit.
Placement identity(const topo::Tree& tree, pattern::Rank ranks,
                   const Constraints& constraints);  // "packed": rank i on the i-th allowed leaf in logical order
Placement round_robin(const topo::Tree& tree, pattern::Rank ranks,
                      const Constraints& constraints);  // rank i on node i mod nodes, next free leaf there
Placement random(const topo::Tree& tree, pattern::Rank ranks, const Constraints& constraints, std::uint64_t seed);
Placement greedy(const topo::Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints);

// Throws Error(kMismatch) unless `placement` puts every rank on an allowed leaf, pinned ones on theirs, and no leaf
// holds more than capacity.
void validate(const topo::Tree& tree, const Placement& placement, pattern::Rank ranks, const Constraints& constraints);

}  // namespace ranktree::core::place
