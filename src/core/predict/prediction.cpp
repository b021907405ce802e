#include "core/predict/prediction.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/divisors.h"
#include "core/base/error.h"
#include "core/base/index.h"
#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/conditions.h"
#include "core/predict/costs.h"
#include "core/predict/loggp.h"
#include "core/predict/modelled.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {
namespace {

using schedule::Algorithm;
using schedule::Collective;
using schedule::Form;
using schedule::Rank;

constexpr int kMostCandidates = 30;
constexpr double kLeastSegments = 1.5;  // fewer round to one

// The cheaper one; of equal costs the one whose text is first.
bool is_less(const Predicted& a, const Predicted& b) {
  return a.seconds != b.seconds ? a.seconds < b.seconds : to_text(a.choice) < to_text(b.choice);
}

// Without the levels outside this one.
Parameters from_level(Parameters parameters, int level) {
  if (parameters.levels.empty()) return parameters;  // Machine refuses them
  const auto outside = std::min(at(level), parameters.levels.size() - 1);
  parameters.levels.erase(parameters.levels.begin(), parameters.levels.begin() + static_cast<std::ptrdiff_t>(outside));
  return parameters;
}

class Predictor {
 public:
  Predictor(Collective collective, std::int64_t bytes, const Modelled& machine, const PredictionOptions& options)
      : question_{.collective = collective,
                  .bytes = bytes,
                  .commutative = true,
                  .shared_memory = options.shared_memory && machine.nodes_are_shared},
        groups_(options.groups),
        model_(options.model != CostModel::kAutomatic          ? options.model
               : machine.hierarchy.ranks() <= kFollowedUnasked ? CostModel::kLogGP
                                                               : CostModel::kClosed),
        modelled_(machine),
        of_launch_(from_level(machine.parameters, machine.hierarchy.given_level(0))),
        machine_(machine.hierarchy, machine.parameters) {}

  [[nodiscard]] Prediction predict() const {
    Prediction result{.model = model_};
    const Form form = schedule::default_form(question_.collective);
    for (const Algorithm algorithm : schedule::algorithms_of(question_.collective)) {
      const auto found = cheapest(
          {{.variant = Variant::kMessages, .composition = {.form = form, .algorithms = {algorithm}}, .groups = 1}});
      if (found) result.base.push_back(*found);
    }
    result.hierarchical = hierarchical();
    if (question_.shared_memory) result.shared = proposed(Variant::kShared);
    for (const Form each : schedule::forms_of(question_.collective)) {
      for (const Algorithm algorithm : schedule::algorithms_of(question_.collective)) {
        auto found = predicted_groups(question_.collective, question_.bytes, {.form = each, .algorithm = algorithm},
                                      modelled_.hierarchy.ranks(), of_launch_);
        if (!found) continue;
        if (found->condition && model_ != CostModel::kClosed) found->on_machine = best_in_groups(each, algorithm);
        result.groups.push_back(*std::move(found));
      }
    }
    return result;
  }

 private:
  [[nodiscard]] std::optional<double> cost(const Choice& choice) const {
    if (choice.variant == Variant::kMessages && model_ == CostModel::kHockney) {
      return evaluated(question_, choice, machine_);
    }
    if (choice.variant == Variant::kMessages && model_ == CostModel::kLogGP) {
      return evaluate(schedule_of(question_, choice, modelled_.hierarchy), loggp_of(machine_));
    }
    const auto form = form_of(question_, choice, machine_);
    if (!form) return std::nullopt;
    return form->seconds(static_cast<double>(question_.bytes), static_cast<double>(choice.composition.segment));
  }

  // The best segment, a power of two of bytes; 0 where the message is not cut. A chain in segments is a pipeline.
  [[nodiscard]] std::int64_t best_segment(const Choice& choice) const {
    const auto& algorithms = choice.composition.algorithms;
    if (!takes_segments(question_.collective) || (algorithms.size() == 1 && algorithms[0] == Algorithm::kChain)) {
      return 0;
    }
    const auto form = form_of(question_, choice, machine_);
    if (!form) return 0;
    const auto bytes = static_cast<double>(question_.bytes);
    const double segments = form->best_segments(bytes);
    if (segments < kLeastSegments || question_.bytes < 2 * kLeastSegment) return 0;
    return std::max(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes / segments))),
                    kLeastSegment);
  }

  // Of several choices, each also with its best segments.
  [[nodiscard]] std::optional<Predicted> cheapest(const std::vector<Choice>& choices) const {
    std::optional<Predicted> best;
    for (const Choice& each : choices) {
      keep_less(best, each);
      Choice segmented = each;
      segmented.composition.segment = best_segment(each);
      if (segmented.composition.segment > 0) keep_less(best, segmented);
    }
    return best;
  }

  void keep_less(std::optional<Predicted>& best, const Choice& choice) const {
    const auto seconds = cost(choice);
    if (!seconds) return;
    const Predicted found{.choice = choice, .seconds = *seconds};
    if (!best || is_less(found, *best)) best = found;
  }

  // Of equal costs the fewest groups.
  [[nodiscard]] std::optional<Predicted> best_in_groups(Form form, Algorithm algorithm) const {
    constexpr double kRounding = 1e-9;
    std::optional<Predicted> best;
    for (const Rank groups : divisors_of(machine_.ranks())) {
      if (groups == machine_.ranks()) break;  // the same as one group
      const auto found = cheapest({{.variant = Variant::kMessages,
                                    .composition = {.form = form, .algorithms = {algorithm}},
                                    .groups = groups}});
      if (found && (!best || found->seconds < (1 - kRounding) * best->seconds)) best = found;
    }
    return best;
  }

  [[nodiscard]] std::optional<Predicted> hierarchical() const {
    if (groups_ == 0) return proposed(Variant::kMessages);
    std::vector<Choice> choices;
    for (const Form form : schedule::forms_of(question_.collective)) {
      for (const Algorithm algorithm : schedule::algorithms_of(question_.collective)) {
        choices.push_back({.variant = Variant::kMessages,
                           .composition = {.form = form, .algorithms = {algorithm}},
                           .groups = groups_});
      }
    }
    return cheapest(choices);
  }

  // The cheapest variant of a kind, in groups, that would be tried at run time.
  [[nodiscard]] std::optional<Predicted> proposed(Variant variant) const {
    std::optional<Predicted> best;
    for (const Candidate& each : candidates(question_, modelled_.hierarchy, modelled_.parameters, kMostCandidates)) {
      if (each.choice.variant == variant && each.choice.groups != 1) keep_less(best, each.choice);
    }
    return best;
  }

  Question question_;
  Rank groups_;
  CostModel model_;
  const Modelled& modelled_;
  Parameters of_launch_;
  Machine machine_;
};

// The groups that the condition is for: where groups do not pay, the divisor next to the square root, which shows why.
Rank groups_of_condition(Rank best, Rank ranks) {
  if (best != 1 && best != ranks) return best;
  Rank found = best;
  for (const Rank divisor : divisors_of(ranks)) {
    if (static_cast<std::int64_t>(divisor) * divisor <= ranks) found = divisor;
  }
  return found;
}

}  // namespace

std::optional<PredictedGroups> predicted_groups(Collective collective, std::int64_t bytes, const Grouping& grouping,
                                                Rank ranks, const Parameters& parameters) {
  const schedule::Hierarchy flat = schedule::Hierarchy::flat(ranks);
  const Machine machine(flat, parameters);
  const auto best = best_groups({.collective = collective, .bytes = bytes}, grouping, machine);
  if (!best) return std::nullopt;
  const Rank groups = groups_of_condition(best->groups, ranks);
  auto condition = condition_of({.collective = collective,
                                 .grouping = grouping,
                                 .ranks = ranks,
                                 .groups = groups,
                                 .bytes = static_cast<double>(bytes),
                                 .link = machine.link(0, 1),
                                 .reduce_per_byte = parameters.reduce_per_byte});
  return PredictedGroups{.form = grouping.form,
                         .algorithm = grouping.algorithm,
                         .best = *best,
                         .condition_groups = groups,
                         .condition = std::move(condition)};
}

Prediction predicted(Collective collective, std::int64_t bytes, const Modelled& machine,
                     const PredictionOptions& options) {
  const Rank ranks = machine.hierarchy.ranks();
  if (bytes < 0) throw Error(Fault::kInput, "bytes: expected 0 or more, found " + std::to_string(bytes));
  if (options.groups < 0 || options.groups > ranks) {
    throw Error(Fault::kInput,
                "groups: expected 0.." + std::to_string(ranks) + ", found " + std::to_string(options.groups));
  }
  if ((options.model == CostModel::kHockney || options.model == CostModel::kLogGP) && ranks > kMostFollowed) {
    throw Error(Fault::kUnsupported, "model: expected closed for more than " + std::to_string(kMostFollowed) +
                                         " ranks, whose messages take long to follow");
  }
  return Predictor(collective, bytes, machine, options).predict();
}

}  // namespace ranktree::core::predict
