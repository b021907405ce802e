// The placement engine: multilevel hierarchical multisection from the root down with exact balance, refined by local
// search on the true tree cost, the cheapest of a small portfolio kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

enum class Preset : std::uint8_t { kFast, kDefault, kStrong };

std::optional<Preset> preset_from_name(std::string_view word);  // "fast", "default", "strong"

struct EngineOptions {
  Preset preset = Preset::kDefault;
  Constraints constraints;
  std::uint64_t seed = 1;
  int threads = 1;  // at most so many; the answer does not depend on it
  // The current placement: the result costs no more. Nothing: identity() in slot order.
  std::optional<Placement> start;
  // Called from time to time by the calling thread. False: the search stops with the best placement found so far, which
  // may be the start.
  std::function<bool()> keep_going;
};

// A placement of all ranks on the tree's allowed leaves. Never costs more than the start. Deterministic: the same
// arguments give the same placement. Where the network is no tree, the search uses the true distances. Throws
// Error(kMismatch) when the ranks do not fit, Error(kInput) when a weight is negative or not finite, or the start is
// not a placement.
Placement run_engine(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options);

// The same for a whole matrix. Where at least a quarter of the pairs communicate (of 256 ranks or more), it is read in
// place, in blocks, and only a few numbers for each rank are kept beside it; other matrices become lists. Throws
// Error(kInput), naming the entry, when one is negative or not finite.
Placement run_engine(const topo::Tree& tree, const pattern::Matrix& matrix, const EngineOptions& options);

}  // namespace ranktree::core::place
