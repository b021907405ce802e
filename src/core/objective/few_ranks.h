// The best placement of a few ranks, by branch and bound.
#pragma once

#include <functional>

#include "core/objective/flows.h"
#include "core/objective/loads.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/simulate/platform.h"

namespace ranktree::core::objective {

constexpr pattern::Rank kMostRanks = 8;

// A placement with the best score, of at most kMostRanks ranks; `start` where none is better. Of empty subtrees of the
// same form below one object the first stands for all, except nodes of a network that is no tree. Placed ranks are
// never relieved by further ones, so a partial placement that is no better is not extended. Stops after counted steps,
// some seconds, with the best so far: networks of more than some 30 different nodes may take so long.
place::Placement best_of_few(const simulate::Platform& platform, const Flows& flows, bool waiting,
                             const place::Constraints& constraints, const place::Placement& start,
                             const std::function<bool()>& keep_going);

}  // namespace ranktree::core::objective
