// What one collective costs on one machine: each base algorithm, the best hierarchy, shared memory, and the best number
// of groups. What `ranktree predict` prints and ranktree/predict.h returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/predict/choice.h"
#include "core/predict/conditions.h"
#include "core/predict/modelled.h"
#include "core/schedule/makers.h"

namespace ranktree::core::predict {

enum class CostModel : std::uint8_t {
  kClosed,    // closed forms
  kHockney,   // following every message
  kLogGP,     // following every message
  kAutomatic  // kLogGP for up to kFollowedUnasked ranks, kClosed for more
};

inline constexpr schedule::Rank kMostFollowed = 128;    // ranks whose messages are followed one by one
inline constexpr schedule::Rank kFollowedUnasked = 32;  // so many take less than a second or two

struct PredictionOptions {
  schedule::Rank groups = 0;  // that many groups of consecutive ranks; 0: the machine's levels
  bool shared_memory = true;  // inside nodes, where some node has several ranks
  CostModel model = CostModel::kAutomatic;
};

struct Predicted {
  Choice choice;
  double seconds = 0;
};

// The best number of groups of one form and algorithm, if all links were as the outermost, and the papers' condition.
// And the best on the machine, where messages are followed and the papers have a condition: of the divisors of the
// ranks.
struct PredictedGroups {
  schedule::Form form = schedule::Form::kLeaders;
  schedule::Algorithm algorithm = schedule::Algorithm::kFlat;
  BestGroups best;
  schedule::Rank condition_groups = 1;  // the groups that the condition is for
  std::optional<Condition> condition;
  std::optional<Predicted> on_machine;
};

struct Prediction {
  CostModel model = CostModel::kClosed;  // never kAutomatic
  std::vector<Predicted> base;           // one for each algorithm that has a cost, over all ranks
  std::optional<Predicted> hierarchical;
  std::optional<Predicted> shared;
  std::vector<PredictedGroups> groups;
};

// For messages of `bytes` (of one block in collectives of blocks), each algorithm with its best segments. Of equal
// costs the choice whose text is first counts. Throws Error(kInput) for options out of range, Error(kUnsupported) where
// more than kMostFollowed ranks would be followed.
Prediction predicted(schedule::Collective collective, std::int64_t bytes, const Modelled& machine,
                     const PredictionOptions& options);

// The best number of groups with its condition; nothing without a closed form.
std::optional<PredictedGroups> predicted_groups(schedule::Collective collective, std::int64_t bytes,
                                                const Grouping& grouping, schedule::Rank ranks,
                                                const Parameters& parameters);

}  // namespace ranktree::core::predict
