#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capi/guard.h"
#include "core/base/error.h"
#include "core/topo/bundle.h"
#include "core/topo/forbid.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "hw/machine.h"
#include "ranktree/base.h"
#include "ranktree/topo.h"

namespace {

using ranktree::capi::guard;
using ranktree::capi::require;
namespace topo_core = ranktree::core::topo;

void require_leaf(const ranktree_topo* topo, int leaf) {
  if (leaf < 0 || leaf >= topo->tree.leaf_count()) {
    throw ranktree::core::Error(
        ranktree::core::Fault::kInput,
        "leaf: expected 0.." + std::to_string(topo->tree.leaf_count() - 1) + ", found " + std::to_string(leaf));
  }
}

}  // namespace

ranktree_status ranktree_topo_load(const char* machine, ranktree_topo** topo, ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    *topo = new ranktree_topo{ranktree::hw::load_tree(machine == nullptr ? "live" : machine)};
  });
}

ranktree_status ranktree_topo_cut_at_cores(const ranktree_topo* topo, ranktree_topo** cut, ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(cut, "cut");
    *cut = new ranktree_topo{topo->tree.cut_at(topo_core::Kind::kCore)};
  });
}

ranktree_status ranktree_topo_bundle(const ranktree_topo* topo, int count, ranktree_topo** bundled,
                                     ranktree_error* error) {
  return guard(error, [&] {
    require(topo, "topo");
    require(bundled, "bundled");
    *bundled = new ranktree_topo{topo_core::bundle_leaves(topo->tree, count)};
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
    *rest = new ranktree_topo{topo_core::forbid(topo->tree, name, std::span(pus, static_cast<std::size_t>(pu_count)))};
  });
}

void ranktree_topo_destroy(ranktree_topo* topo) { delete topo; }

int ranktree_topo_get_leaf_count(const ranktree_topo* topo) { return topo->tree.leaf_count(); }

int ranktree_topo_get_level_count(const ranktree_topo* topo) { return topo->tree.level_count(); }

const char* ranktree_topo_get_level_name(const ranktree_topo* topo, int level) {
  if (level < 0 || level >= topo->tree.level_count()) return nullptr;
  return topo_core::kind_name(topo->tree.level(level).kind).data();  // kind names are literals: terminated
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
