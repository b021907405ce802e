#include "core/place/engine.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/dense.h"
#include "core/place/engine/context.h"
#include "core/place/engine/pipeline.h"
#include "core/place/exact/exact_search.h"
#include "core/place/graph/graph.h"
#include "core/place/network/network_engine.h"
#include "core/place/order/ordered.h"
#include "core/place/placement.h"
#include "core/place/refine/objective.h"
#include "core/place/slots/slot_tree.h"
#include "core/place/tile/lattice_tiling.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using engine::Context;
using engine::Graph;
using engine::SlotTree;
using pattern::Rank;

constexpr double kClearly = 1 - 1e-6;  // what is cheaper by that is, however sums are rounded

struct Found {
  Placement placement;
  bool better = false;  // than the start, beyond doubt
};

// `start`: the slot of each rank.
Found place_in_order(const SlotTree& tree, const engine::Ordered& ordered, const EngineOptions& options,
                     Workers& workers, const std::vector<SlotTree::Slot>& start) {
  const Graph& graph = ordered.graph;
  const Context context = engine::context_of(options.preset);
  const engine::ListsOnTree objective(tree, graph, context, workers);
  const engine::Problem problem{tree, objective, ordered.order, context, options.seed, graph.arcs.size()};
  engine::Pipeline pipeline(problem, workers, start);
  auto tiling = ordered.lattice ? engine::tile_lattice(tree, graph, *ordered.lattice) : std::nullopt;
  if (tiling) pipeline.try_from(std::move(tiling->slot_of));
  const bool settled = tiling && tiling->settled && tree.pinned().empty() && options.preset != Preset::kStrong;
  if (!settled) pipeline.try_divisions(engine::guide_of(graph, workers));
  pipeline.try_start();
  if (workers.check_now() && graph.vertices() <= exact::kMostRanks) {
    const auto cheapest = exact::cheapest(tree, graph, workers, pipeline.best());
    if (cheapest) pipeline.keep(*cheapest);
  }
  return {engine::placement_of(tree, pipeline.best_of_ranks()),
          pipeline.best_cost() < kClearly * pipeline.start_cost()};
}

Found place_as_lists(const topo::Tree& tree, const pattern::Affinity& affinity, const Placement& start,
                     const EngineOptions& options) {
  Workers workers(options.threads, options.keep_going);
  engine::Ordered ordered;
  std::unique_ptr<SlotTree> slots;
  std::vector<SlotTree::Slot> slot_of;
  workers.for_each(2, static_cast<std::int64_t>(affinity.indices.size()), [&](int i) {
    if (i == 0) {
      ordered = engine::put_in_order(affinity, workers);
    } else {
      slots = std::make_unique<SlotTree>(tree, options.constraints);
      slot_of = engine::slots_of(*slots, start);
    }
  });
  if (ordered.graph.arcs.empty()) return {start};
  return place_in_order(*slots, ordered, options, workers, slot_of);
}

Found place(const topo::Tree& tree, const pattern::Affinity& affinity, const Placement& start,
            const EngineOptions& options) {
  if (tree.interconnect() != nullptr) {
    return {network::place_on_network(tree, affinity, options, start)};
  }
  if (is_dense(affinity)) {
    std::optional<Placement> found = place_as_matrix(tree, affinity, options);
    if (found) return {std::move(*found)};
  }
  return place_as_lists(tree, affinity, start, options);
}

}  // namespace

std::optional<Preset> preset_from_name(std::string_view word) {
  if (word == "fast") return Preset::kFast;
  if (word == "default") return Preset::kDefault;
  if (word == "strong") return Preset::kStrong;
  return std::nullopt;
}

Placement run_engine(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options) {
  require_slots(tree, affinity.ranks, options.constraints);
  Placement start = options.start ? *options.start : identity(tree, affinity.ranks, options.constraints);
  if (options.start) engine::check_start(tree, start, affinity.ranks, options.constraints);
  Found found = place(tree, affinity, start, options);
  // Where it is close, compared as evaluate() counts, whose sums round differently.
  const bool better =
      found.better || evaluate(tree, affinity, found.placement).total < evaluate(tree, affinity, start).total;
  if (!better) return start;
  if (options.start && tree.interconnect() == nullptr) engine::keep_leaves(tree, start, found.placement);
  return std::move(found.placement);
}

}  // namespace ranktree::core::place
