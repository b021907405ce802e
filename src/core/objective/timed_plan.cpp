#include "core/objective/timed_plan.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/objective/few_ranks.h"
#include "core/objective/flows.h"
#include "core/objective/loads.h"
#include "core/objective/local_search.h"
#include "core/objective/model.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/simulate/level_costs.h"
#include "core/simulate/network_links.h"
#include "core/simulate/platform.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {
namespace {

using pattern::Rank;
using place::Placement;

constexpr Rank kManyStarts = 64;  // up to so many ranks, the search starts from every candidate

std::vector<simulate::LevelCost> costs_of(const topo::Tree& tree, const Model& model) {
  return model.parameters ? simulate::level_costs(tree, *model.parameters) : simulate::level_costs(tree);
}

bool counts_waiting(const Model& model) { return model.objective != Objective::kBottleneck; }

// Whether the messages of each pair are its bytes times one number: then both give the same plan.
bool proportional(const pattern::Pattern& expanded) {
  const pattern::Affinity bytes = affinity(expanded, pattern::Metric::kSize);
  const pattern::Affinity messages = affinity(expanded, pattern::Metric::kMessages);
  if (bytes.indices != messages.indices || bytes.indptr != messages.indptr) return false;
  for (std::size_t i = 1; i < bytes.weights.size(); ++i) {
    if (bytes.weights[i] * messages.weights[0] != bytes.weights[0] * messages.weights[i]) return false;
  }
  return true;
}

class TimedPlanner {
 public:
  TimedPlanner(const topo::Tree& tree, const pattern::Pattern& expanded, const place::PlanOptions& options,
               const Model& model)
      : tree_(tree),
        expanded_(expanded),
        options_(options),
        waiting_(counts_waiting(model)),
        platform_(tree, costs_of(tree, model), {}),
        flows_(expanded),
        constraints_(place::constraints_of(tree, expanded.ranks, options)) {
    if (options.keep_going) keep_going_ = [this] { return go_on(); };
  }

  [[nodiscard]] place::Plan plan() {
    std::vector<Placement> candidates = all_candidates();
    Placement best = candidates.front();
    best_score_ = score(best);
    std::vector<Placement> starts;
    for (const Placement& each : candidates) consider(each, best);
    if (expanded_.ranks <= kManyStarts) {
      starts = std::move(candidates);
    } else {
      starts.push_back(best);
    }
    for (std::size_t i = 0; i < starts.size() && go_on(); ++i) improve(starts[i], i, best);
    if (expanded_.ranks <= kMostRanks && go_on()) {
      best = best_of_few(platform_, flows_, waiting_, constraints_, best, keep_going_);
    }
    return plan_of(std::move(best));
  }

 private:
  [[nodiscard]] bool go_on() {
    if (!stopped_ && options_.keep_going) stopped_ = !options_.keep_going();
    return !stopped_;
  }

  [[nodiscard]] Score score(const Placement& placement) const {
    return Loads(platform_, flows_, waiting_, placement).score();
  }

  // The one by bytes, or by messages where only these are known, is first: it wins where all are equal.
  [[nodiscard]] std::vector<Placement> all_candidates() {
    std::vector<Placement> candidates;
    const bool bytes = !affinity(expanded_, pattern::Metric::kSize).weights.empty();
    const bool messages = !affinity(expanded_, pattern::Metric::kMessages).weights.empty();
    if (bytes) candidates.push_back(engine_plan(pattern::Metric::kSize));
    if (messages && (!bytes || !proportional(expanded_)) && !stopped_) {
      candidates.push_back(engine_plan(pattern::Metric::kMessages));
    }
    candidates.push_back(place::identity(tree_, expanded_.ranks, constraints_));
    candidates.push_back(place::round_robin(tree_, expanded_.ranks, constraints_));
    auto traced = place::traced_placement(tree_, expanded_.metadata.hosts, constraints_);
    if (traced) candidates.push_back(std::move(*traced));
    return candidates;
  }

  [[nodiscard]] Placement engine_plan(pattern::Metric metric) {
    place::PlanOptions options = options_;
    options.metric = metric;
    options.keep_going = keep_going_;
    return {place::make_plan(tree_, expanded_, options).leaf_of};
  }

  void consider(const Placement& placement, Placement& best) {
    const Score found = score(placement);
    if (!found.better_than(best_score_)) return;
    best = placement;
    best_score_ = found;
  }

  void improve(const Placement& start, std::size_t number, Placement& best) {
    Loads loads(platform_, flows_, waiting_, start);
    search(loads, {constraints_, seed_of(options_.seed, number), keep_going_});
    consider({loads.leaves()}, best);
  }

  [[nodiscard]] place::Plan plan_of(Placement best) const {
    place::PlanOptions options = options_;
    const bool bytes = !affinity(expanded_, pattern::Metric::kSize).weights.empty();
    options.metric = bytes ? pattern::Metric::kSize : pattern::Metric::kMessages;
    const bool better = score(best).better_than(score(place::identity(tree_, expanded_.ranks, constraints_)));
    options.placement = std::move(best);
    place::Plan plan = place::make_plan(tree_, expanded_, options);
    plan.algorithm = waiting_ ? "time" : "bottleneck";
    plan.gain = better;
    plan.stopped = stopped_;
    return plan;
  }

  const topo::Tree& tree_;
  const pattern::Pattern& expanded_;
  const place::PlanOptions& options_;
  bool waiting_;
  simulate::Platform platform_;
  Flows flows_;
  place::Constraints constraints_;
  std::function<bool()> keep_going_;
  Score best_score_;
  bool stopped_ = false;
};

Limit limit_of(std::string name, const Loads& loads) {
  const std::vector<double>& links = loads.link_seconds();
  const auto link = std::max_element(links.begin(), links.end());
  const auto rank = std::max_element(loads.waits().begin(), loads.waits().end());
  Limit limit{.placement = std::move(name)};
  if (link != links.end()) limit.link_seconds = *link;
  limit.waiting_seconds = *rank;
  limit.seconds = limit.link_seconds + limit.waiting_seconds;
  if (!(limit.seconds > 0)) return limit;
  const bool waits = limit.waiting_seconds > limit.link_seconds;
  limit.share = (waits ? limit.waiting_seconds : limit.link_seconds) / limit.seconds;
  limit.resource = waits ? "waiting of rank " + std::to_string(rank - loads.waits().begin())
                         : loads.platform().link_name(static_cast<simulate::LinkId>(link - links.begin()));
  return limit;
}

}  // namespace

place::Plan make_plan(const topo::Tree& tree, const pattern::Pattern& expanded, const place::PlanOptions& options,
                      const Model& model) {
  if (model.objective == Objective::kBottleneck || model.objective == Objective::kTime) {
    return TimedPlanner(tree, expanded, options, model).plan();
  }
  place::PlanOptions by_metric = options;
  by_metric.metric = model.objective == Objective::kBytes ? pattern::Metric::kSize : pattern::Metric::kMessages;
  return place::make_plan(tree, expanded, by_metric);
}

std::vector<Limit> limits(const topo::Tree& tree, const pattern::Pattern& expanded, const place::PlanOptions& options,
                          const Model& model, const place::Plan& plan) {
  const simulate::Platform platform(tree, costs_of(tree, model), {});
  const Flows flows(expanded);
  const place::Constraints constraints = place::constraints_of(tree, expanded.ranks, options);
  std::vector<Limit> result;
  const auto add = [&](const std::string& name, const Placement& placement) {
    result.push_back(limit_of(name, Loads(platform, flows, counts_waiting(model), placement)));
  };
  for (const place::CostRow& row : plan.costs) {
    if (row.placement == "identity") add(row.placement, place::identity(tree, expanded.ranks, constraints));
    if (row.placement == "round-robin") add(row.placement, place::round_robin(tree, expanded.ranks, constraints));
    if (row.placement == "plan") add(row.placement, {plan.leaf_of});
    if (row.placement != "traced") continue;
    const auto traced = place::traced_placement(tree, expanded.metadata.hosts, constraints);
    if (traced) add(row.placement, *traced);
  }
  return result;
}

}  // namespace ranktree::core::objective
