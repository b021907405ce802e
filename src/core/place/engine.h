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
  // Where the ranks are now: the result costs no more. Nothing: identity() in slot order.
  std::optional<Placement> start;
  // Asked now and then, by the calling thread; false: stop and give the best placement found so far, which may be the
  // start.
  std::function<bool()> keep_going;
};

// A placement of all ranks on the tree's allowed leaves. Never costs more than the start. Deterministic: the same
// arguments give the same placement. Where the network is no tree, true distances are searched on. Throws
// Error(kMismatch) when the ranks do not fit, Error(kInput) when a weight is negative or not finite, or the start is
// not a placement.
Placement run_engine(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options);

// The same for a whole matrix. Where at least a quarter of the pairs talk (of 256 ranks or more) it is read where it
// is, in blocks, and only a few numbers a rank are kept beside it; others are turned into lists. Throws Error(kInput),
// naming the entry, when one is negative or not finite.
Placement run_engine(const topo::Tree& tree, const pattern::Matrix& matrix, const EngineOptions& options);

}  // namespace ranktree::core::place
