#include "core/place/pins.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] void refuse(Fault fault, const Pin& pin, const std::string& text) {
  throw Error(fault, "pins: rank " + std::to_string(pin.rank) + ": " + text);
}

}  // namespace

void check_pins(const topo::Tree& tree, pattern::Rank ranks, const Constraints& constraints) {
  std::set<pattern::Rank> seen;
  std::map<topo::Leaf, int> load;
  for (const Pin& pin : constraints.pins) {
    if (pin.rank < 0 || pin.rank >= ranks) {
      throw Error(Fault::kInput,
                  "pins: expected ranks in 0.." + std::to_string(ranks - 1) + ", found " + std::to_string(pin.rank));
    }
    if (!seen.insert(pin.rank).second) refuse(Fault::kInput, pin, "expected one pin, found another");
    if (pin.leaf < 0 || pin.leaf >= tree.leaf_count()) {
      refuse(Fault::kInput, pin,
             "expected a leaf in 0.." + std::to_string(tree.leaf_count() - 1) + ", found " + std::to_string(pin.leaf));
    }
    if (!tree.allowed(pin.leaf)) {
      refuse(Fault::kMismatch, pin, "leaf " + std::to_string(pin.leaf) + " may not be used");
    }
    if (++load[pin.leaf] > constraints.capacity) {
      refuse(Fault::kMismatch, pin,
             "leaf " + std::to_string(pin.leaf) + " already holds " + std::to_string(constraints.capacity));
    }
  }
}

Placement around_pins(const std::vector<topo::Leaf>& slots, pattern::Rank ranks, const Constraints& constraints) {
  Placement placement{std::vector<topo::Leaf>(at(ranks), -1)};
  std::map<topo::Leaf, int> taken;
  for (const Pin& pin : constraints.pins) {
    placement.leaf_of[at(pin.rank)] = pin.leaf;
    ++taken[pin.leaf];
  }
  std::size_t next = 0;
  for (topo::Leaf& leaf : placement.leaf_of) {
    if (leaf >= 0) continue;
    for (auto held = taken.find(slots[next]); held != taken.end() && held->second > 0; held = taken.find(slots[next])) {
      --held->second;
      ++next;
    }
    leaf = slots[next++];
  }
  return placement;
}

}  // namespace ranktree::core::place
