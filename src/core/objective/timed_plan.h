// Plans by the seconds that the machine's links and latencies take for a pattern.
#pragma once

#include <string>
#include <vector>

#include "core/objective/model.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {

// The most loaded link of one phase.
struct PhaseLimit {
  std::string name;  // as FlowPhase
  double count = 1;
  double seconds = 0;
  std::string resource;
};

// What limits one placement.
struct Limit {
  std::string placement;  // "identity", "round-robin", "traced", "plan"
  double seconds = 0;     // of the model: those of the most loaded link of each phase, and the waiting
  double link_seconds = 0;
  double waiting_seconds = 0;
  std::string resource;  // of the waiting and each phase's link the largest: "node n3 up", "messages one after
                         // another"; empty without traffic
  double share = 0;      // of the seconds
  std::vector<PhaseLimit> phases;  // those with traffic; empty where the pattern has no phases
  int phase = -1;                  // of `resource`, into `phases`
};

struct LimitedPlan {
  place::Plan plan;
  std::vector<Limit> limits;  // one for each row of the plan's table
};

// As place::make_plan(). kBytes and kMessages are its metrics size and msg. For the others, the plans for bytes and for
// messages, the current rank order, round robin and the traced placement are candidates; a local search starts from the
// best of them (on small machines from each), and the best placement by score is kept: it takes at most 0.1 % longer
// than any candidate. Up to kMostRanks ranks: the best of all placements, within the steps of best_of_few(). Above
// 50,000 pairs the plan for messages is that of the preset fast, and with this preset there is none. The plan's table
// has hop-bytes as before. Throws also Error(kUnsupported) where Platform does, and for parameters where the network is
// no tree. options.metric does not count. The limits count waiting for each objective but kBottleneck.
LimitedPlan make_limited_plan(const topo::Tree& tree, const pattern::Pattern& expanded,
                              const place::PlanOptions& options, const Model& model);

// The plan alone.
place::Plan make_plan(const topo::Tree& tree, const pattern::Pattern& expanded, const place::PlanOptions& options,
                      const Model& model);

// simulate::usual_levels() of what the model takes for the machine. Throws as make_limited_plan().
std::vector<std::string> usual_levels(const topo::Tree& tree, const Model& model);

// What limits a placement of each rank on a leaf.
Limit limit_of(const topo::Tree& tree, const pattern::Pattern& expanded, const Model& model,
               const place::Placement& placement);

// The part of limit_of()'s waiting_seconds that fewer bytes would not shorten: the latency of each message's route,
// mean over the ranks. 0 for kBottleneck. O(pairs x route).
double latency_seconds(const topo::Tree& tree, const pattern::Pattern& expanded, const Model& model,
                       const place::Placement& placement);

}  // namespace ranktree::core::objective
