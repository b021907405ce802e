// Local search on the seconds of a placement: ranks of the most loaded links move first.
#pragma once

#include <cstdint>
#include <functional>

#include "core/objective/loads.h"
#include "core/place/placement.h"

namespace ranktree::core::objective {

struct LocalSearch {
  const place::Constraints& constraints;
  std::uint64_t seed = 1;
  // As EngineOptions::keep_going; may be empty.
  const std::function<bool()>& keep_going;
};

// Moves ranks, and exchanges them, while that lowers the pressure, or the hop-bytes at the same pressure; on small
// machines then while it lowers the score. The score may rise in between: compare it with that of the start.
// Deterministic; its work is bounded by counted steps, in proportion to the number of pairs.
void search(Loads& loads, const LocalSearch& options);

}  // namespace ranktree::core::objective
