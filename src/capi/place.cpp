#include "ranktree/place.h"

#include <cstddef>
#include <string>

#include "capi/guard.h"
#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/place/plan.h"
#include "io/plan_file.h"
#include "ranktree/base.h"
#include "ranktree/pattern.h"
#include "ranktree/topo.h"

namespace {

using ranktree::capi::guard;
using ranktree::capi::require;
namespace place_core = ranktree::core::place;

place_core::PlanOptions read_options(const ranktree_place_options& options) {
  require(options.algorithm, "options.algorithm");
  require(options.metric, "options.metric");
  const auto metric = ranktree::core::pattern::metric_from_name(options.metric);
  if (!metric) {
    throw ranktree::core::Error(
        ranktree::core::Fault::kInput,
        "options.metric: expected 'size', 'msg' or 'avg', found '" + std::string(options.metric) + "'");
  }
  place_core::PlanOptions result;
  result.algorithm = options.algorithm;
  result.metric = *metric;
  result.seed = options.seed;
  result.oversubscribe = options.oversubscribe != 0;
  return result;
}

bool has_rank(const ranktree_plan* plan, int rank) {
  return rank >= 0 && static_cast<std::size_t>(rank) < plan->plan.seats.size();
}

}  // namespace

void ranktree_place_options_init(ranktree_place_options* options) { *options = {"best", "size", 1, 0}; }

ranktree_status ranktree_place(const ranktree_topo* topo, const ranktree_pattern* pattern,
                               const ranktree_place_options* options, ranktree_plan** plan, ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(pattern, "pattern");
    require(plan, "plan");
    ranktree_place_options chosen;
    ranktree_place_options_init(&chosen);
    if (options != nullptr) chosen = *options;
    *plan = new ranktree_plan{place_core::make_plan(topo->tree, pattern->pattern, read_options(chosen))};
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

int ranktree_plan_get_rank_count(const ranktree_plan* plan) { return static_cast<int>(plan->plan.seats.size()); }

const char* ranktree_plan_get_host(const ranktree_plan* plan, int rank) {
  return has_rank(plan, rank) ? plan->plan.seats[static_cast<std::size_t>(rank)].host.c_str() : nullptr;
}

int ranktree_plan_get_pus(const ranktree_plan* plan, int rank, const int** pus) {
  if (!has_rank(plan, rank)) return 0;
  const auto& owned = plan->plan.seats[static_cast<std::size_t>(rank)].pus;
  *pus = owned.data();
  return static_cast<int>(owned.size());
}

int ranktree_plan_has_gain(const ranktree_plan* plan) { return plan->plan.gain ? 1 : 0; }

ranktree_status ranktree_plan_get_cost(const ranktree_plan* plan, const char* placement, double* cost,
                                       ranktree_error* error) {
  return guard(error, [&] {
    require(plan, "plan");
    require(placement, "placement");
    require(cost, "cost");
    for (const auto& row : plan->plan.costs) {
      if (row.placement == placement) {
        *cost = row.total;
        return;
      }
    }
    throw ranktree::core::Error(ranktree::core::Fault::kInput,
                                "placement: the plan has no row '" + std::string(placement) + "'");
  });
}
