#include "core/objective/timed_plan.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/objective/few_ranks.h"
#include "core/objective/flows.h"
#include "core/objective/loads.h"
#include "core/objective/local_search.h"
#include "core/objective/model.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/engine.h"
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

constexpr Rank kManyStarts = 64;             // up to so many ranks, the search starts from every candidate
constexpr std::size_t kManyFlows = 100'000;  // twice the pairs

// Throws Error(kUnsupported) for parameters of levels where the network has none.
std::vector<simulate::LevelCost> costs_of(const topo::Tree& tree, const Model& model) {
  if (model.parameters && tree.interconnect() != nullptr) {
    throw Error(Fault::kUnsupported,
                "parameters: expected a machine whose network is a tree of switches, found a torus, mesh, dragonfly or "
                "matrix: its machine file gives the latency and bandwidth of its links");
  }
  return model.parameters ? simulate::level_costs(tree, *model.parameters) : simulate::level_costs(tree);
}

bool counts_waiting(const Model& model) { return model.objective != Objective::kBottleneck; }

struct Candidate {
  std::string name;
  Placement placement;
  Score score;
  Limit limit;
};

PhaseLimit phase_limit(const Loads& loads, std::size_t phase) {
  const auto links = loads.link_seconds(phase);
  const auto link = std::max_element(links.begin(), links.end());
  const FlowPhase& described = loads.flows().phases()[phase];
  PhaseLimit limit{.name = described.name, .count = described.count, .seconds = 0, .resource = {}};
  if (link == links.end() || !(*link > 0)) return limit;
  limit.seconds = *link;
  limit.resource = loads.platform().link_name(static_cast<simulate::LinkId>(link - links.begin()));
  return limit;
}

Limit limit_by(std::string name, const Loads& loads) {
  Limit limit;
  limit.placement = std::move(name);
  limit.waiting_seconds = loads.waiting();
  double most = 0;
  for (std::size_t phase = 0; phase < loads.phase_count(); ++phase) {
    PhaseLimit found = phase_limit(loads, phase);
    if (!(found.seconds > 0)) continue;
    limit.link_seconds += found.seconds;
    if (found.seconds > most) {
      most = found.seconds;
      limit.resource = found.resource;
      limit.phase = static_cast<int>(limit.phases.size());
    }
    limit.phases.push_back(std::move(found));
  }
  limit.seconds = limit.link_seconds + limit.waiting_seconds;
  if (limit.waiting_seconds > most) {
    limit.resource = "messages one after another";
    limit.phase = -1;
  }
  if (limit.seconds > 0) limit.share = std::max(most, limit.waiting_seconds) / limit.seconds;
  if (loads.phase_count() > 1) return limit;
  limit.phases.clear();
  limit.phase = -1;
  return limit;
}

class TimedPlanner {
 public:
  TimedPlanner(const topo::Tree& tree, const pattern::Pattern& expanded, const place::PlanOptions& options,
               const Model& model)
      : tree_(tree),
        expanded_(expanded),
        options_(options),
        waiting_(counts_waiting(model)),
        platform_(tree, costs_of(tree, model)),
        flows_(expanded),
        constraints_(place::constraints_of(tree, expanded.ranks, options)) {
    if (options.keep_going) keep_going_ = [this] { return go_on(); };
  }

  [[nodiscard]] LimitedPlan plan() {
    propose_all();
    const std::size_t proposed = candidates_.size();
    const std::size_t first = expanded_.ranks <= kManyStarts ? 0 : best_;
    const std::size_t last = expanded_.ranks <= kManyStarts ? proposed : best_ + 1;
    for (std::size_t i = first; i < last && go_on(); ++i) improve(i, i - first);
    if (expanded_.ranks <= kMostRanks && go_on()) {
      const Placement& best = candidates_[best_].placement;
      propose("exact", best_of_few(platform_, flows_, waiting_, constraints_, best, keep_going_));
    }
    return finished();
  }

 private:
  [[nodiscard]] bool go_on() {
    if (!stopped_ && options_.keep_going) stopped_ = !options_.keep_going();
    return !stopped_;
  }

  // The one by bytes, or by messages where only these are known, is first: it wins where all are equal.
  void propose_all() {
    const bool bytes = flows_.has_bytes();
    metric_ = bytes || !flows_.has_messages() ? pattern::Metric::kSize : pattern::Metric::kMessages;
    by_engine_ = engine_plan(metric_);
    propose("engine", {by_engine_.leaf_of});
    if (wants_message_plan() && !stopped_) propose("messages", message_plan());
    propose("identity", place::identity(tree_, expanded_.ranks, constraints_));
    propose("round-robin", place::round_robin(tree_, expanded_.ranks, constraints_));
    auto traced = place::traced_placement(tree_, expanded_.metadata.hosts, constraints_);
    if (traced) propose("traced", std::move(*traced));
  }

  void propose(std::string name, Placement placement) {
    auto loads = std::make_unique<Loads>(platform_, flows_, waiting_, placement);
    Limit limit = limit_by(name, *loads);
    candidates_.push_back({std::move(name), std::move(placement), loads->score(), std::move(limit)});
    if (candidates_.size() > 1 && !candidates_.back().score.better_than(candidates_[best_].score)) return;
    best_ = candidates_.size() - 1;
    best_loads_ = std::move(loads);
  }

  [[nodiscard]] place::Plan engine_plan(pattern::Metric metric) {
    place::PlanOptions options = options_;
    options.metric = metric;
    options.keep_going = keep_going_;
    return place::make_plan(tree_, expanded_, options);
  }

  [[nodiscard]] bool is_large() const { return flows_.size() > kManyFlows; }

  [[nodiscard]] bool wants_message_plan() const {
    if (is_large() && options_.preset == place::Preset::kFast) return false;
    return flows_.has_bytes() && flows_.has_messages() && !flows_.proportional();
  }

  // A second search as long as the first one is too much where many pairs communicate.
  [[nodiscard]] Placement message_plan() {
    place::PlanOptions options = options_;
    options.metric = pattern::Metric::kMessages;
    options.keep_going = keep_going_;
    if (is_large()) {
      options.preset = place::Preset::kFast;
      if (options.algorithm == "best") options.algorithm = "engine";
    }
    return place::compute_placement(tree_, expanded_, options);
  }

  // The sums of many small changes round: the result is evaluated afresh.
  void improve(std::size_t candidate, std::size_t number) {
    const Placement start = candidates_[candidate].placement;
    std::unique_ptr<Loads> loads = candidate == best_ ? std::move(best_loads_) : nullptr;
    if (!loads) loads = std::make_unique<Loads>(platform_, flows_, waiting_, start);
    search(*loads, {constraints_, seed_of(options_.seed, number), keep_going_});
    if (loads->leaves() != start.leaf_of) propose("search", {loads->leaves()});
  }

  [[nodiscard]] const Candidate& named(std::string_view name) const {
    return *std::find_if(candidates_.begin(), candidates_.end(),
                         [&](const Candidate& each) { return each.name == name; });
  }

  // Times that differ by less than the model can know are taken for equal: of these the fewest hop-bytes count, and
  // then the first candidate.
  [[nodiscard]] std::size_t chosen() const {
    constexpr double kAlike = 1e-3;
    const double most = (1 + kAlike) * candidates_[best_].score.seconds;
    std::size_t chosen = candidates_.size();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Score& score = candidates_[i].score;
      if (score.seconds > most) continue;
      const bool first = chosen == candidates_.size();
      if (first || score.hop_bytes < (1 - kRounding) * candidates_[chosen].score.hop_bytes) chosen = i;
    }
    return chosen;
  }

  [[nodiscard]] LimitedPlan finished() {
    const std::size_t which = chosen();
    const Candidate& best = candidates_[which];
    LimitedPlan found{which == 0 ? std::move(by_engine_) : table_of(best), {}};
    found.plan.algorithm = objective_name(waiting_ ? Objective::kTime : Objective::kBottleneck);
    found.plan.gain = best.placement.leaf_of != named("identity").placement.leaf_of;
    found.plan.stopped = stopped_;
    for (const place::CostRow& row : found.plan.costs) {
      found.limits.push_back(row.placement == "plan" ? best.limit : named(row.placement).limit);
      found.limits.back().placement = row.placement;
    }
    return found;
  }

  [[nodiscard]] place::Plan table_of(const Candidate& best) {
    place::PlanOptions options = options_;
    options.metric = metric_;
    options.placement = best.placement;
    return place::with_placement(std::move(by_engine_), tree_, expanded_, options);
  }

  const topo::Tree& tree_;
  const pattern::Pattern& expanded_;
  const place::PlanOptions& options_;
  bool waiting_;
  simulate::Platform platform_;
  Flows flows_;
  place::Constraints constraints_;
  std::function<bool()> keep_going_;
  pattern::Metric metric_ = pattern::Metric::kSize;  // of by_engine_
  place::Plan by_engine_;
  std::vector<Candidate> candidates_;
  std::size_t best_ = 0;
  std::unique_ptr<Loads> best_loads_;  // under the best candidate; null once a search has changed them
  bool stopped_ = false;
};

// By the rows of a plan's table.
std::vector<Limit> limits_of(const topo::Tree& tree, const pattern::Pattern& expanded,
                             const place::PlanOptions& options, const Model& model, const place::Plan& plan) {
  const simulate::Platform platform(tree, costs_of(tree, model));
  const Flows flows(expanded);
  const place::Constraints constraints = place::constraints_of(tree, expanded.ranks, options);
  std::vector<Limit> result;
  const auto add = [&](const std::string& name, const Placement& placement) {
    result.push_back(limit_by(name, Loads(platform, flows, counts_waiting(model), placement)));
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

bool is_searched(Objective objective) { return objective == Objective::kBottleneck || objective == Objective::kTime; }

place::Plan plan_by_metric(const topo::Tree& tree, const pattern::Pattern& expanded, place::PlanOptions options,
                           Objective objective) {
  options.metric = objective == Objective::kBytes ? pattern::Metric::kSize : pattern::Metric::kMessages;
  return place::make_plan(tree, expanded, options);
}

}  // namespace

LimitedPlan make_limited_plan(const topo::Tree& tree, const pattern::Pattern& expanded,
                              const place::PlanOptions& options, const Model& model) {
  if (is_searched(model.objective)) return TimedPlanner(tree, expanded, options, model).plan();
  LimitedPlan found{plan_by_metric(tree, expanded, options, model.objective), {}};
  found.limits = limits_of(tree, expanded, options, model, found.plan);
  return found;
}

place::Plan make_plan(const topo::Tree& tree, const pattern::Pattern& expanded, const place::PlanOptions& options,
                      const Model& model) {
  if (is_searched(model.objective)) return TimedPlanner(tree, expanded, options, model).plan().plan;
  return plan_by_metric(tree, expanded, options, model.objective);
}

std::vector<std::string> usual_levels(const topo::Tree& tree, const Model& model) {
  return simulate::usual_levels(tree, costs_of(tree, model));
}

Limit limit_of(const topo::Tree& tree, const pattern::Pattern& expanded, const Model& model,
               const Placement& placement) {
  const simulate::Platform platform(tree, costs_of(tree, model));
  const Flows flows(expanded);
  return limit_by("", Loads(platform, flows, counts_waiting(model), placement));
}

double latency_seconds(const topo::Tree& tree, const pattern::Pattern& expanded, const Model& model,
                       const Placement& placement) {
  if (!counts_waiting(model)) return 0;
  const simulate::Platform platform(tree, costs_of(tree, model));
  const std::vector<double> messages = pattern::total(expanded).messages;
  simulate::Route route;
  double seconds = 0;
  for_each_entry(expanded, [&](Rank from, Rank to, std::size_t i) {
    platform.find_route(placement.leaf_of[at(from)], placement.leaf_of[at(to)], route);
    seconds += messages[i] * route.latency;
  });
  return seconds / expanded.ranks;
}

}  // namespace ranktree::core::objective
