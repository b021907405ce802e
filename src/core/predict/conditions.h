// Whether groups are worth using, and how many: the papers' optima and conditions, as corrected in
// docs/explanation/models.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/closed_forms.h"
#include "core/predict/costs.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {

// One algorithm on both levels of G groups of consecutive ranks, and the best G.
struct Grouping {
  schedule::Form form = schedule::Form::kLeaders;
  schedule::Algorithm algorithm = schedule::Algorithm::kChain;
  std::int64_t segment = 0;  // bytes
};

struct BestGroups {
  schedule::Rank groups = 1;  // the cheapest; among equal ones the fewest. 1 or the number of ranks: no gain
  double seconds = 0;
  // The cheapest G that divides the ranks.
  schedule::Rank divisor = 1;
  double divisor_seconds = 0;
  // The real G where the closed form is least, sqrt(p) on equal links; 0 where it has no minimum between 1 and p.
  double continuous = 0;
};

// By the closed forms, ignoring the machine's levels. Tries all G for up to kAllGroups ranks; for more, all divisors
// and the neighbours of the continuous optimum. Returns nothing where there is no closed form.
inline constexpr schedule::Rank kAllGroups = 1024;
std::optional<BestGroups> best_groups(const Question& question, const Grouping& grouping, const Machine& machine);

// The best real G for two levels of flat or chain algorithms on different links, where a message costs `inside` or
// `outside` seconds: G* = sqrt(p inside / outside).
double best_real_groups(double ranks, double inside, double outside);

// A condition of the papers for two levels to win over one.
struct Condition {
  std::string text;  // "two levels win if X < (G-1)(q-1)+1: 16 < 50"
  bool holds = false;
};

// For G groups of ranks on equal links, as one sentence; nothing where the papers and docs/explanation/models.md have
// no condition.
struct Case {
  schedule::Collective collective = schedule::Collective::kBroadcast;
  Grouping grouping;
  schedule::Rank ranks = 1;
  schedule::Rank groups = 1;
  double bytes = 0;
  Line link;
  double reduce_per_byte = 0;
};
std::optional<Condition> condition_of(const Case& about);

}  // namespace ranktree::core::predict
