#include "core/place/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/bound.h"
#include "core/place/dense.h"
#include "core/place/engine.h"
#include "core/place/network/level_table.h"
#include "core/place/placement.h"
#include "core/place/treematch.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using pattern::Rank;
using topo::Leaf;
using topo::Object;
using topo::Tree;

struct Evaluated {
  std::string name;
  Placement placement;
  Cost cost;
};

// The weights of the pairs: lists, or a whole matrix.
class Weights {
 public:
  explicit Weights(const pattern::Affinity& lists) : lists_(&lists) {}
  explicit Weights(const pattern::Matrix& matrix) : matrix_(&matrix) {}

  [[nodiscard]] bool is_matrix() const { return matrix_ != nullptr; }
  [[nodiscard]] const pattern::Affinity& lists() const {
    if (lists_ == nullptr) throw Error(Fault::kUnsupported, "plan: expected lists, found a matrix");
    return *lists_;
  }
  [[nodiscard]] Rank ranks() const { return is_matrix() ? pattern::ranks_of(*matrix_) : lists_->ranks; }
  [[nodiscard]] Cost cost(const Tree& tree, const Placement& placement) const {
    return is_matrix() ? evaluate(tree, *matrix_, placement) : evaluate(tree, *lists_, placement);
  }
  [[nodiscard]] double bound(const Tree& tree, const Constraints& constraints) const {
    return is_matrix() ? lower_bound(tree, *matrix_, constraints) : lower_bound(tree, *lists_, constraints);
  }
  [[nodiscard]] Placement search(const Tree& tree, const EngineOptions& options) const {
    return is_matrix() ? run_engine(tree, *matrix_, options) : run_engine(tree, *lists_, options);
  }

 private:
  const pattern::Affinity* lists_ = nullptr;
  const pattern::Matrix* matrix_ = nullptr;
};

bool needs_lists(std::string_view algorithm) { return algorithm == "treematch" || algorithm == "greedy"; }

class Planner {
 public:
  Planner(const Tree& tree, const Weights& weights, const PlanOptions& options)
      : tree_(tree),
        weights_(weights),
        options_(options),
        constraints_(constraints_of(tree, weights.ranks(), options)) {}

  [[nodiscard]] Evaluated run(std::string_view name) const {
    Placement placement;
    if (name == "identity") {
      placement = identity(tree_, weights_.ranks(), constraints_);
    } else if (name == "round-robin") {
      placement = round_robin(tree_, weights_.ranks(), constraints_);
    } else if (name == "random") {
      placement = random(tree_, weights_.ranks(), constraints_, options_.seed);
    } else if (name == "greedy") {
      placement = greedy(tree_, weights_.lists(), constraints_);
    } else if (name == "treematch") {
      TreeMatchOptions treematch_options;
      treematch_options.constraints = constraints_;
      treematch_options.seed = options_.seed;
      placement = treematch(tree_, weights_.lists(), treematch_options);
    } else if (name == "engine") {
      EngineOptions engine_options;
      engine_options.preset = options_.preset;
      engine_options.constraints = constraints_;
      engine_options.seed = options_.seed;
      engine_options.threads = options_.threads;
      if (options_.keep_going) engine_options.keep_going = [this] { return go_on(); };
      placement = weights_.search(tree_, engine_options);
    } else {
      throw Error(Fault::kInput,
                  "algorithm: expected best, engine, treematch, greedy, round-robin, random or identity, found '" +
                      std::string(name) + "'");
    }
    return cost_of(std::string(name), std::move(placement));
  }

  // The placement by the algorithm of the options. "best" runs several, and the first of the cheapest is kept.
  [[nodiscard]] Evaluated chosen() const {
    if (options_.placement) return cost_of("given", *options_.placement);
    if (options_.algorithm != "best") return run(options_.algorithm);
    constexpr std::array<std::string_view, 3> kPortfolio{"engine", "greedy", "round-robin"};
    Evaluated best = run(kPortfolio[0]);
    for (std::size_t i = 1; i < kPortfolio.size(); ++i) {
      if (needs_lists(kPortfolio.at(i)) && (!go_on() || weights_.is_matrix())) continue;
      Evaluated next = run(kPortfolio[i]);
      if (next.cost.total < best.cost.total) best = std::move(next);
    }
    return best;
  }

  [[nodiscard]] std::optional<Evaluated> traced(const std::vector<std::string>& hosts) const {
    auto placement = traced_placement(tree_, hosts, constraints_);
    if (!placement) return std::nullopt;
    return cost_of("traced", std::move(*placement));
  }

  // True when keep_going has stopped the search.
  [[nodiscard]] bool stopped() const { return stopped_; }

  // Sums that round differently may not put the bound above what was found.
  [[nodiscard]] double bound(const Evaluated& found) const {
    return std::min(weights_.bound(tree_, constraints_), found.cost.total);
  }

 private:
  [[nodiscard]] Evaluated cost_of(std::string name, Placement placement) const {
    validate(tree_, placement, weights_.ranks(), constraints_);
    Cost cost = weights_.cost(tree_, placement);
    const bool finite = std::isfinite(cost.total) && std::all_of(cost.weight.begin(), cost.weight.end(),
                                                                 [](double one) { return std::isfinite(one); });
    if (!finite) {
      throw Error(Fault::kInput,
                  "pattern: expected numbers that can be added up, found a cost beyond what a double holds: divide the "
                  "pattern's numbers, or the machine's costs");
    }
    return {std::move(name), std::move(placement), std::move(cost)};
  }

  // keep_going is not called again after it has returned false.
  [[nodiscard]] bool go_on() const {
    if (!stopped_ && options_.keep_going) stopped_ = !options_.keep_going();
    return !stopped_;
  }

  const Tree& tree_;
  const Weights& weights_;
  const PlanOptions& options_;
  Constraints constraints_;
  mutable bool stopped_ = false;
};

// Throws as pattern::require_counted().
pattern::Affinity weights_by(pattern::Metric metric, const pattern::Pattern& expanded) {
  pattern::Affinity counted = pattern::affinity(expanded, metric);
  if (counted.weights.empty()) pattern::require_counted(metric, expanded);
  return counted;
}

// A row for each, in the order given; the last is the plan's own.
void fill_table(Plan& plan, const Tree& tree, const Weights& weights,
                const std::vector<std::pair<const char*, const Evaluated*>>& rows) {
  if (tree.interconnect() == nullptr) {
    plan.levels = topo::level_names(tree);
    for (int level = 0; level < tree.level_count(); ++level) plan.level_costs.push_back(tree.cost(level));
    for (const auto& [name, row] : rows) plan.costs.push_back({name, row->cost.weight, row->cost.total});
    return;
  }
  std::vector<const Placement*> placements;
  placements.reserve(rows.size());
  for (const auto& [name, row] : rows) placements.push_back(&row->placement);
  const network::LevelTable table(tree, weights.lists(), placements);
  plan.levels = table.names();
  plan.level_costs = table.values();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    plan.costs.push_back({rows[i].first, table.weight(i), rows[i].second->cost.total});
  }
  plan.cost_by_level = table.cost(rows.size() - 1);
}

void list_hosts(Plan& plan, const Tree& tree) {
  plan.described = topo::has_described_nodes(tree);
  Object last = -1;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    const Object node = tree.node_of(leaf);
    if (node < 0) continue;
    if (node != last) {
      plan.hosts.emplace_back(tree.name(node));
      plan.pus_per_host.push_back(0);
      last = node;
    }
    plan.pus_per_host.back() += static_cast<int>(tree.pus(leaf).size());
  }
}

void list_slots(Plan& plan, const Tree& tree, const Placement& placement) {
  for (const Leaf leaf : placement.leaf_of) {
    const Object node = tree.node_of(leaf);
    const auto pus = tree.pus(leaf);
    plan.slots.push_back({node < 0 ? std::string() : std::string(tree.name(node)), {pus.begin(), pus.end()}});
  }
}

// `hosts`: where each rank was traced, empty when unknown.
Plan plan_for(const Tree& tree, const Weights& weights, const std::vector<std::string>& hosts,
              const PlanOptions& options) {
  const Planner planner(tree, weights, options);
  const Evaluated identity = planner.run("identity");
  const Evaluated round_robin = planner.run("round-robin");
  const auto traced = planner.traced(hosts);
  const Evaluated found = planner.chosen();

  const Evaluated* best = &identity;
  if (traced && traced->cost.total < best->cost.total) best = &*traced;
  if (options.placement || found.cost.total < best->cost.total) best = &found;

  Plan plan;
  list_hosts(plan, tree);
  list_slots(plan, tree, best->placement);
  plan.algorithm = best->name;
  plan.metric = metric_name(options.metric);
  plan.seed = options.seed;
  plan.gain = best == &found;
  plan.stopped = planner.stopped();
  plan.bound = planner.bound(*best);
  plan.leaf_of = best->placement.leaf_of;
  std::vector<std::pair<const char*, const Evaluated*>> rows{{"identity", &identity}, {"round-robin", &round_robin}};
  if (traced) rows.emplace_back("traced", &*traced);
  rows.emplace_back("plan", best);
  fill_table(plan, tree, weights, rows);
  return plan;
}

}  // namespace

Constraints constraints_of(const Tree& tree, Rank ranks, const PlanOptions& options) {
  if (ranks < 1) throw Error(Fault::kInput, "pattern: expected at least 1 rank, found none");
  Constraints constraints;
  if (options.oversubscribe) {
    const auto places = static_cast<std::int64_t>(slots_of(tree, {}).size());
    if (places > 0) constraints.capacity = static_cast<int>((ranks + places - 1) / places);
    constraints.capacity = std::max(constraints.capacity, 1);
  }
  constraints.pins = options.pins;
  return constraints;
}

std::optional<Placement> traced_placement(const Tree& tree, const std::vector<std::string>& hosts,
                                          const Constraints& constraints) {
  if (hosts.empty()) return std::nullopt;
  std::map<std::string, std::vector<Leaf>, std::less<>> leaves_of;
  for (const Leaf leaf : slots_of(tree, constraints)) {
    const Object node = tree.node_of(leaf);
    if (node >= 0) leaves_of[std::string(tree.name(node))].push_back(leaf);
  }
  std::map<std::string, std::size_t, std::less<>> taken;
  Placement placement;
  for (const std::string& host : hosts) {
    const auto found = leaves_of.find(host);
    if (found == leaves_of.end() || taken[host] == found->second.size()) return std::nullopt;
    placement.leaf_of.push_back(found->second[taken[host]++]);
  }
  for (const Pin& pin : constraints.pins) {
    if (placement.leaf_of.at(static_cast<std::size_t>(pin.rank)) != pin.leaf) return std::nullopt;
  }
  return placement;
}

const CostRow& row_of(const Plan& plan, std::string_view placement) {
  for (const CostRow& row : plan.costs) {
    if (row.placement == placement) return row;
  }
  throw Error(Fault::kInput, "plan: expected a row '" + std::string(placement) + "' in its costs, found none");
}

std::vector<double> costs_of_levels(const Plan& plan) {
  if (!plan.cost_by_level.empty()) return plan.cost_by_level;
  std::vector<double> costs = row_of(plan, "plan").weight;
  for (std::size_t level = 0; level < costs.size(); ++level) costs[level] *= plan.level_costs[level];
  return costs;
}

Plan on_this_node(Plan plan) {
  if (plan.hosts.size() > 1) {
    throw Error(Fault::kInput, "plan: expected one host, found " + std::to_string(plan.hosts.size()));
  }
  for (std::string& host : plan.hosts) host.clear();
  for (Slot& slot : plan.slots) slot.host.clear();
  plan.described = false;
  return plan;
}

std::optional<double> gap(const Plan& plan) {
  const auto row =
      std::find_if(plan.costs.begin(), plan.costs.end(), [](const CostRow& one) { return one.placement == "plan"; });
  if (!plan.bound || row == plan.costs.end()) return std::nullopt;
  if (row->total <= *plan.bound) return 0;
  if (*plan.bound == 0) return std::nullopt;
  return (row->total - *plan.bound) / *plan.bound;
}

Placement compute_placement(const Tree& tree, const pattern::Pattern& expanded, const PlanOptions& options) {
  const pattern::Affinity affinity = weights_by(options.metric, expanded);
  return Planner(tree, Weights(affinity), options).chosen().placement;
}

Plan make_plan(const Tree& tree, const pattern::Pattern& expanded, const PlanOptions& options) {
  const pattern::Affinity affinity = weights_by(options.metric, expanded);
  return plan_for(tree, Weights(affinity), expanded.metadata.hosts, options);
}

Plan with_placement(Plan plan, const Tree& tree, const pattern::Pattern& expanded, const PlanOptions& options) {
  if (tree.interconnect() != nullptr) return make_plan(tree, expanded, options);
  const pattern::Affinity affinity = weights_by(options.metric, expanded);
  const Evaluated found = Planner(tree, Weights(affinity), options).chosen();
  plan.slots.clear();
  list_slots(plan, tree, found.placement);
  plan.algorithm = found.name;
  plan.gain = true;
  if (plan.bound) plan.bound = std::min(*plan.bound, found.cost.total);
  plan.leaf_of = found.placement.leaf_of;
  plan.costs.back() = {"plan", found.cost.weight, found.cost.total};
  return plan;
}

Plan make_plan(const Tree& tree, const pattern::Affinity& affinity, const PlanOptions& options) {
  return plan_for(tree, Weights(affinity), {}, options);
}

Plan make_plan(const Tree& tree, const pattern::Matrix& matrix, const PlanOptions& options) {
  check_matrix(matrix);
  if (!is_dense(matrix) || tree.interconnect() != nullptr || needs_lists(options.algorithm)) {
    return make_plan(tree, affinity_of(matrix), options);
  }
  return plan_for(tree, Weights(matrix), {}, options);
}

}  // namespace ranktree::core::place
