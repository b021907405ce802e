#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "capi/options.h"
#include "capi/pattern_choices.h"
#include "core/base/error.h"
#include "core/objective/model.h"
#include "core/objective/timed_plan.h"
#include "core/place/engine.h"
#include "core/place/plan.h"
#include "core/place/traced_nodes.h"
#include "core/topo/occupancy.h"
#include "core/topo/tree.h"
#include "io/parameters_file.h"
#include "io/plan_file.h"
#include "ranktree/base.h"
#include "ranktree/launch.h"
#include "ranktree/pattern.h"
#include "ranktree/place.h"
#include "ranktree/topo.h"

namespace {

namespace capi = ranktree::capi;
using capi::guard;
using capi::require;
namespace objective_core = ranktree::core::objective;
namespace place_core = ranktree::core::place;

using ranktree::core::Error;
using ranktree::core::Fault;
using ranktree::core::topo::RankPlace;

using NamedAlgorithm = capi::Named<ranktree_algorithm, const char*>;
constexpr std::array kAlgorithms{
    NamedAlgorithm{RANKTREE_ALGORITHM_BEST, "best", "best"},
    NamedAlgorithm{RANKTREE_ALGORITHM_ENGINE, "engine", "engine"},
    NamedAlgorithm{RANKTREE_ALGORITHM_TREEMATCH, "treematch", "treematch"},
    NamedAlgorithm{RANKTREE_ALGORITHM_GREEDY, "greedy", "greedy"},
    NamedAlgorithm{RANKTREE_ALGORITHM_ROUND_ROBIN, "round-robin", "round-robin"},
    NamedAlgorithm{RANKTREE_ALGORITHM_RANDOM, "random", "random"},
    NamedAlgorithm{RANKTREE_ALGORITHM_IDENTITY, "identity", "identity"},
};

using NamedPreset = capi::Named<ranktree_preset, place_core::Preset>;
constexpr std::array kPresets{
    NamedPreset{RANKTREE_PRESET_FAST, "fast", place_core::Preset::kFast},
    NamedPreset{RANKTREE_PRESET_DEFAULT, "default", place_core::Preset::kDefault},
    NamedPreset{RANKTREE_PRESET_STRONG, "strong", place_core::Preset::kStrong},
};

constexpr ranktree_place_options kDefaults{sizeof(ranktree_place_options),
                                           RANKTREE_ALGORITHM_BEST,
                                           RANKTREE_METRIC_SIZE,
                                           RANKTREE_MODEL_TRACED,
                                           RANKTREE_PRESET_DEFAULT,
                                           1,
                                           1,
                                           0,
                                           0,
                                           nullptr,
                                           nullptr,
                                           nullptr,
                                           0,
                                           RANKTREE_OBJECTIVE_DEFAULT,
                                           nullptr};

using NamedObjective = capi::Named<ranktree_objective, objective_core::Objective>;
constexpr NamedObjective named(ranktree_objective choice, objective_core::Objective value) {
  return {choice, objective_core::objective_name(value), value};
}
constexpr std::array kObjectives{
    named(RANKTREE_OBJECTIVE_BYTES, objective_core::Objective::kBytes),
    named(RANKTREE_OBJECTIVE_MESSAGES, objective_core::Objective::kMessages),
    named(RANKTREE_OBJECTIVE_BOTTLENECK, objective_core::Objective::kBottleneck),
    named(RANKTREE_OBJECTIVE_TIME, objective_core::Objective::kTime),
};

[[noreturn]] void refuse(const std::string& option, const std::string& expected, const std::string& found) {
  capi::refuse("options." + option, expected, found);
}

// Returns a function that stops at the time limit or when the caller's function returns 0; empty when there is neither.
std::function<bool()> keep_going(const ranktree_place_options& options) {
  using Clock = std::chrono::steady_clock;
  if (options.time_limit_ms == 0 && options.keep_going == nullptr) return {};
  // A limit of more than a year is no limit, which keeps the sum within the range of the clock.
  constexpr std::int64_t kLongest = std::int64_t{366} * 24 * 3600 * 1000;
  const bool limited = options.time_limit_ms > 0 && options.time_limit_ms < kLongest;
  const Clock::time_point end =
      limited ? Clock::now() + std::chrono::milliseconds(options.time_limit_ms) : Clock::time_point::max();
  return [end, keep_going = options.keep_going, user = options.user] {
    if (Clock::now() >= end) return false;
    return keep_going == nullptr || keep_going(user) != 0;
  };
}

place_core::PlanOptions plan_options(const ranktree_place_options& options) {
  if (options.threads < 1) refuse("threads", "at least 1", std::to_string(options.threads));
  if (options.time_limit_ms < 0) refuse("time_limit_ms", "at least 0", std::to_string(options.time_limit_ms));
  place_core::PlanOptions result;
  result.algorithm = capi::value_of(kAlgorithms, options.algorithm, "options.algorithm");
  result.metric = capi::value_of(capi::kMetrics, options.metric, "options.metric");
  result.seed = options.seed;
  result.oversubscribe = options.oversubscribe != 0;
  result.preset = capi::value_of(kPresets, options.preset, "options.preset");
  result.threads = options.threads;
  result.keep_going = keep_going(options);
  return result;
}

// The leaf that owns a PU. Without a host, only one leaf may have it.
ranktree::core::topo::Leaf leaf_of(const ranktree::core::topo::Tree& tree, const ranktree_pin& pin) {
  const std::string option = "pins of rank " + std::to_string(pin.rank);
  ranktree::core::topo::Leaf found = -1;
  for (ranktree::core::topo::Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    const auto pus = tree.pus(leaf);
    const auto node = tree.node_of(leaf);
    if (std::find(pus.begin(), pus.end(), pin.pu) == pus.end()) continue;
    if (pin.host != nullptr && (node < 0 || tree.name(node) != pin.host)) continue;
    if (found >= 0) refuse(option, "a host", "none, and several have PU " + std::to_string(pin.pu));
    found = leaf;
  }
  if (found < 0) refuse(option, "a PU of the machine", std::to_string(pin.pu));
  return found;
}

void read_pins(const ranktree_place_options& options, const ranktree::core::topo::Tree& tree,
               place_core::PlanOptions& result) {
  capi::require_count(options.pin_count, "options.pin_count");
  if (options.pin_count > 0) require(options.pins, "options.pins");
  for (int i = 0; i < options.pin_count; ++i) {
    result.pins.push_back({options.pins[i].rank, leaf_of(tree, options.pins[i])});
  }
}

// Nothing: what options.metric counts decides.
std::optional<objective_core::Model> model_of(const ranktree_place_options& options, const ranktree_pattern& pattern) {
  if (capi::number_of(options.objective) == RANKTREE_OBJECTIVE_DEFAULT) {
    if (options.parameters != nullptr) refuse("parameters", "options.objective beside it", "none");
    return std::nullopt;
  }
  objective_core::Model model;
  model.objective = capi::value_of(kObjectives, options.objective, "options.objective");
  if (options.metric != RANKTREE_METRIC_SIZE) {
    refuse("metric", "RANKTREE_METRIC_SIZE beside an objective", std::to_string(capi::number_of(options.metric)));
  }
  if (pattern.matrix) refuse("objective", "a pattern of pairs", "a whole matrix");
  if (options.parameters != nullptr) model.parameters = ranktree::io::parameters_named(options.parameters);
  return model;
}

ranktree_plan plan_of(const ranktree_topo& topo, const ranktree_pattern& pattern,
                      const ranktree_place_options& options) {
  place_core::PlanOptions read = plan_options(options);
  read_pins(options, topo.tree, read);
  const auto model = model_of(options, pattern);
  if (pattern.matrix) return {place_core::make_plan(topo.tree, *pattern.matrix, read)};
  auto pairs = capi::expanded(pattern.pattern, options.collectives, "options.collectives");
  auto traced = place_core::traced_nodes(topo.tree, pairs.metadata.hosts, read);
  pairs.metadata.hosts = std::move(traced.nodes);
  ranktree_plan made{model ? objective_core::make_plan(topo.tree, pairs, read, *model)
                           : place_core::make_plan(topo.tree, pairs, read)};
  if (!traced.note.empty()) made.notes.push_back(std::move(traced.note));
  return made;
}

double bound_of(const ranktree_plan& plan) {
  if (plan.plan.bound) return *plan.plan.bound;
  throw Error(Fault::kUnsupported, "plan: expected a bound, found none: its file is older than bounds");
}

double of_level(const std::vector<double>& values, int level) {
  if (level >= 0 && std::cmp_less(level, values.size())) return values[static_cast<std::size_t>(level)];
  throw Error(Fault::kInput,
              "level: expected 0.." + std::to_string(std::ssize(values) - 1) + ", found " + std::to_string(level));
}

std::vector<RankPlace> places_of(const ranktree_location found[], int rank_count) {
  capi::require_count(rank_count, "rank_count");
  if (rank_count > 0) require(found, "found");
  std::vector<RankPlace> places;
  for (const ranktree_location& one : std::span(found, static_cast<std::size_t>(rank_count))) {
    require(one.host, "found.host");
    capi::require_count(one.pu_count, "found.pu_count");
    if (one.pu_count > 0) require(one.pus, "found.pus");
    places.push_back({one.host, {one.pus, one.pus + one.pu_count}});
  }
  return places;
}

bool has_rank(const ranktree_plan* plan, int rank) {
  return rank >= 0 && static_cast<std::size_t>(rank) < plan->plan.slots.size();
}

}  // namespace

void ranktree_place_options_init_sized(ranktree_place_options* options, size_t size) {
  capi::write_defaults(options, size, kDefaults);
}

ranktree_status ranktree_algorithm_parse(const char* name, ranktree_algorithm* algorithm, ranktree_error* error) {
  return guard(error, [&] {
    require(algorithm, "algorithm");
    *algorithm = capi::choice_of(kAlgorithms, name, "algorithm");
  });
}

ranktree_status ranktree_preset_parse(const char* name, ranktree_preset* preset, ranktree_error* error) {
  return guard(error, [&] {
    require(preset, "preset");
    *preset = capi::choice_of(kPresets, name, "preset");
  });
}

ranktree_status ranktree_objective_parse(const char* name, ranktree_objective* objective, ranktree_error* error) {
  return guard(error, [&] {
    require(objective, "objective");
    *objective = capi::choice_of(kObjectives, name, "objective");
  });
}

ranktree_status ranktree_place(const ranktree_topo* topo, const ranktree_pattern* pattern,
                               const ranktree_place_options* options, ranktree_plan** plan, ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(pattern, "pattern");
    require(plan, "plan");
    *plan = new ranktree_plan{plan_of(*topo, *pattern, capi::read_options(options, kDefaults))};
  });
}

ranktree_status ranktree_plan_load(const char* path, ranktree_plan** plan, ranktree_error* error) {
  return guard(error, [&] {
    require(path, "path");
    require(plan, "plan");
    *plan = new ranktree_plan{ranktree::io::load_plan(path)};
  });
}

ranktree_status ranktree_plan_save(const ranktree_plan* plan, const char* path, ranktree_error* error) {
  return guard(error, [&] {
    require(plan, "plan");
    require(path, "path");
    ranktree::io::save_plan(path, plan->plan);
  });
}

void ranktree_plan_destroy(ranktree_plan* plan) { delete plan; }

int ranktree_plan_get_rank_count(const ranktree_plan* plan) { return static_cast<int>(plan->plan.slots.size()); }

const char* ranktree_plan_get_host(const ranktree_plan* plan, int rank) {
  return has_rank(plan, rank) ? plan->plan.slots[static_cast<std::size_t>(rank)].host.c_str() : nullptr;
}

int ranktree_plan_get_pus(const ranktree_plan* plan, int rank, const int** pus) {
  if (!has_rank(plan, rank)) return 0;
  const auto& owned = plan->plan.slots[static_cast<std::size_t>(rank)].pus;
  *pus = owned.data();
  return static_cast<int>(owned.size());
}

int ranktree_plan_get_permutation(const ranktree_plan* plan, const int** leaves) {
  const auto& leaf_of = plan->plan.leaf_of;
  if (leaf_of.empty()) return 0;
  *leaves = leaf_of.data();
  return static_cast<int>(leaf_of.size());
}

int ranktree_plan_is_described(const ranktree_plan* plan) { return plan->plan.described ? 1 : 0; }

int ranktree_plan_has_gain(const ranktree_plan* plan) { return plan->plan.gain ? 1 : 0; }

int ranktree_plan_was_stopped(const ranktree_plan* plan) { return plan->plan.stopped ? 1 : 0; }

ranktree_status ranktree_plan_get_cost(const ranktree_plan* plan, const char* placement, double* cost,
                                       ranktree_error* error) {
  return guard(error, [&] {
    require(plan, "plan");
    require(placement, "placement");
    require(cost, "cost");
    *cost = place_core::row_of(plan->plan, placement).total;
  });
}

const char* ranktree_plan_get_note(const ranktree_plan* plan, int number) {
  const bool known = number >= 0 && std::cmp_less(number, plan->notes.size());
  return known ? plan->notes[static_cast<std::size_t>(number)].c_str() : nullptr;
}

int ranktree_plan_get_level_count(const ranktree_plan* plan) { return static_cast<int>(plan->plan.levels.size()); }

const char* ranktree_plan_get_level_name(const ranktree_plan* plan, int level) {
  const auto& names = plan->plan.levels;
  return level >= 0 && std::cmp_less(level, names.size()) ? names[static_cast<std::size_t>(level)].c_str() : nullptr;
}

ranktree_status ranktree_plan_get_level_weight(const ranktree_plan* plan, const char* placement, int level,
                                               double* weight, ranktree_error* error) {
  return guard(error, [&] {
    require(plan, "plan");
    require(placement, "placement");
    require(weight, "weight");
    *weight = of_level(place_core::row_of(plan->plan, placement).weight, level);
  });
}

ranktree_status ranktree_plan_get_level_cost(const ranktree_plan* plan, int level, double* cost,
                                             ranktree_error* error) {
  return guard(error, [&] {
    require(plan, "plan");
    require(cost, "cost");
    *cost = of_level(place_core::costs_of_levels(plan->plan), level);
  });
}

ranktree_status ranktree_plan_get_bound(const ranktree_plan* plan, double* bound, ranktree_error* error) {
  return guard(error, [&] {
    require(plan, "plan");
    require(bound, "bound");
    *bound = bound_of(*plan);
  });
}

ranktree_status ranktree_plan_get_gap(const ranktree_plan* plan, double* gap, ranktree_error* error) {
  return guard(error, [&] {
    require(plan, "plan");
    require(gap, "gap");
    bound_of(*plan);
    *gap = place_core::gap(plan->plan).value_or(std::numeric_limits<double>::infinity());
  });
}

// NOLINTNEXTLINE(readability-function-size): its arrays and their lengths
ranktree_status ranktree_plan_verify(const ranktree_plan* plan, int rank_count, const ranktree_location found[],
                                     int compare_pus, int wrong[], int* wrong_count, ranktree_error* error) {
  return guard(error, [&] {
    require(plan, "plan");
    require(wrong_count, "wrong_count");
    std::vector<RankPlace> expected;
    expected.reserve(plan->plan.slots.size());
    for (const auto& slot : plan->plan.slots) expected.push_back({slot.host, slot.pus});
    const auto misplaced = ranktree::core::topo::misplaced(expected, places_of(found, rank_count), compare_pus != 0);
    for (std::size_t i = 0; wrong != nullptr && i < misplaced.size(); ++i) wrong[i] = misplaced[i].rank;
    *wrong_count = static_cast<int>(misplaced.size());
  });
}
