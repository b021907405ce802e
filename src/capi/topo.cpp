#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "capi/guard.h"
#include "capi/options.h"
#include "core/base/error.h"
#include "core/topo/bundle.h"
#include "core/topo/forbid.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "hw/machine.h"
#include "io/network.h"
#include "ranktree/base.h"
#include "ranktree/topo.h"

namespace {

namespace capi = ranktree::capi;
using capi::guard;
using capi::require;
namespace topo_core = ranktree::core::topo;

using NamedCost = capi::Named<ranktree_cost, topo_core::Metric>;
constexpr std::array kCosts{NamedCost{RANKTREE_COST_HOPS, "hops", topo_core::Metric::kHops},
                            NamedCost{RANKTREE_COST_LATENCY, "latency", topo_core::Metric::kLatency},
                            NamedCost{RANKTREE_COST_BANDWIDTH, "bandwidth", topo_core::Metric::kBandwidth}};

using NamedUnit = capi::Named<ranktree_unit, topo_core::Kind>;
constexpr std::array kUnits{NamedUnit{RANKTREE_UNIT_CORE, "core", topo_core::Kind::kCore},
                            NamedUnit{RANKTREE_UNIT_PU, "pu", topo_core::Kind::kPu}};

constexpr ranktree_topo_options kDefaults{sizeof(ranktree_topo_options), nullptr, RANKTREE_UNIT_CORE,
                                          RANKTREE_COST_HOPS};

topo_core::Tree load(const char* machine, const ranktree_topo_options& options) {
  const topo_core::Metric metric = capi::value_of(kCosts, options.cost, "options.cost");
  const topo_core::Kind unit = capi::value_of(kUnits, options.unit, "options.unit");
  topo_core::Tree tree = ranktree::hw::load_tree(machine == nullptr ? "live" : machine);
  if (options.network != nullptr) {
    tree = ranktree::hw::machine_in_network(ranktree::io::load_network(options.network), tree);
  }
  tree = tree.with_metric(metric);
  return unit == topo_core::Kind::kCore ? tree.cut_at(unit) : tree;
}

void require_level(const ranktree_topo* topo, int level) {
  const int levels = topo->tree.level_count();
  if (level < 0 || level >= levels) capi::refuse("level", "0.." + std::to_string(levels - 1), std::to_string(level));
}

void require_leaf(const ranktree_topo* topo, int leaf) {
  if (leaf < 0 || leaf >= topo->tree.leaf_count()) {
    throw ranktree::core::Error(
        ranktree::core::Fault::kInput,
        "leaf: expected 0.." + std::to_string(topo->tree.leaf_count() - 1) + ", found " + std::to_string(leaf));
  }
}

}  // namespace

void ranktree_topo_options_init_sized(ranktree_topo_options* options, size_t size) {
  capi::write_defaults(options, size, kDefaults);
}

ranktree_status ranktree_unit_parse(const char* name, ranktree_unit* unit, ranktree_error* error) {
  return guard(error, [&] {
    require(unit, "unit");
    *unit = capi::choice_of(kUnits, name, "unit");
  });
}

ranktree_status ranktree_cost_parse(const char* name, ranktree_cost* cost, ranktree_error* error) {
  return guard(error, [&] {
    require(cost, "cost");
    *cost = capi::choice_of(kCosts, name, "cost");
  });
}

ranktree_status ranktree_topo_load(const char* machine, const ranktree_topo_options* options, ranktree_topo** topo,
                                   ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    *topo = new ranktree_topo(load(machine, capi::read_options(options, kDefaults)));
  });
}

ranktree_status ranktree_topo_bundle(const ranktree_topo* topo, int count, ranktree_topo** bundled,
                                     ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(bundled, "bundled");
    topo_core::Tree tree = topo_core::bundle_leaves(topo->tree, count);
    bool any = false;
    for (topo_core::Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) any = any || tree.allowed(leaf);
    if (!any) {
      throw ranktree::core::Error(
          ranktree::core::Fault::kMismatch,
          "count: expected at most as many as an object has usable leaves, found " + std::to_string(count));
    }
    *bundled = new ranktree_topo(std::move(tree));
  });
}

ranktree_status ranktree_topo_forbid(const ranktree_topo* topo, const char* host, const int* pus, int pu_count,
                                     ranktree_topo** rest, ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(rest, "rest");
    if (pu_count < 0) {
      throw ranktree::core::Error(ranktree::core::Fault::kInput,
                                  "pu_count: expected at least 0, found " + std::to_string(pu_count));
    }
    if (pu_count > 0) require(pus, "pus");
    const auto name = host == nullptr ? std::nullopt : std::optional<std::string_view>(host);
    *rest = new ranktree_topo(topo_core::forbid(topo->tree, name, std::span(pus, static_cast<std::size_t>(pu_count))));
  });
}

void ranktree_topo_destroy(ranktree_topo* topo) { delete topo; }

int ranktree_topo_get_leaf_count(const ranktree_topo* topo) { return topo->tree.leaf_count(); }

int ranktree_topo_get_level_count(const ranktree_topo* topo) { return topo->tree.level_count(); }

const char* ranktree_topo_get_level_name(const ranktree_topo* topo, int level) {
  if (level < 0 || level >= topo->tree.level_count()) return nullptr;
  return topo->level_names[static_cast<std::size_t>(level)].c_str();
}

ranktree_status ranktree_topo_get_level_cost(const ranktree_topo* topo, int level, double* cost,
                                             ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(cost, "cost");
    require_level(topo, level);
    *cost = topo->tree.cost(level);
  });
}

ranktree_status ranktree_topo_get_common_level(const ranktree_topo* topo, int leaf_a, int leaf_b, int* level,
                                               ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(level, "level");
    require_leaf(topo, leaf_a);
    require_leaf(topo, leaf_b);
    *level = topo->tree.common_level(leaf_a, leaf_b);
  });
}

ranktree_status ranktree_topo_get_distance(const ranktree_topo* topo, int leaf_a, int leaf_b, double* distance,
                                           ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(distance, "distance");
    require_leaf(topo, leaf_a);
    require_leaf(topo, leaf_b);
    *distance = topo->tree.distance(leaf_a, leaf_b);
  });
}
