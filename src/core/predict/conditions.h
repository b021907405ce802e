// When groups pay and how many: the papers' optima and conditions, as corrected in docs/models.md.
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

// One algorithm on both levels of G groups of consecutive ranks.
struct Grouping {
  schedule::Form form = schedule::Form::kLeaders;
  schedule::Algorithm algorithm = schedule::Algorithm::kChain;
  std::int64_t segment = 0;  // bytes
};

struct BestGroups {
  schedule::Rank groups = 1;  // the cheapest; of equal ones the fewest. 1 or the number of ranks: groups do not pay
  double seconds = 0;
  // The cheapest that divides the ranks.
  schedule::Rank divisor = 1;
  double divisor_seconds = 0;
  // Where the closed form over real G is least, sqrt(p) on equal links; 0 where it has no minimum inside.
  double continuous = 0;
};

// By the closed forms, on a machine whose levels, if it has several, do not matter. All G are tried for up to
// kAllGroups ranks; for more, all divisors and what is next to the continuous optimum. Nothing where there is no form.
inline constexpr schedule::Rank kAllGroups = 1024;
std::optional<BestGroups> best_groups(const Question& question, const Grouping& grouping, const Machine& machine);

// The divisors of a positive number, ascending. O(sqrt(number)).
std::vector<schedule::Rank> divisors_of(schedule::Rank number);

// The best G of two levels of flat or chain algorithms whose links differ: a message costs `inside` or `outside`
// seconds. G* = sqrt(p inside / outside).
double best_real_groups(double ranks, double inside, double outside);

// A condition of the papers for two levels to win over one.
struct Condition {
  std::string text;  // "two levels win if X < (G-1)(q-1)+1: 16 < 50"
  bool holds = false;
};

// For G groups of ranks on links that are alike. One sentence; nothing where the papers and docs/models.md have none.
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
