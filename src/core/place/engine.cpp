#include "core/place/engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/dense.h"
#include "core/place/divide/multisection.h"
#include "core/place/engine/context.h"
#include "core/place/engine/pipeline.h"
#include "core/place/exact/exact_search.h"
#include "core/place/graph/graph.h"
#include "core/place/network/network_engine.h"
#include "core/place/order/ordered.h"
#include "core/place/placement.h"
#include "core/place/refine/swap_search.h"
#include "core/place/slots/slot_tree.h"
#include "core/place/tile/lattice_tiling.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace engine {
namespace {

using Slot = SlotTree::Slot;

std::vector<SlotTree::Pinned> pinned_vertices(const Problem& problem) {
  std::map<pattern::Rank, Slot> slot_of;
  for (const SlotTree::Pinned& pinned : problem.tree.pinned()) slot_of[pinned.rank] = pinned.slot;
  std::vector<SlotTree::Pinned> result;
  for (std::size_t i = 0; i < problem.order.size() && !slot_of.empty(); ++i) {
    const auto found = slot_of.find(problem.order[i]);
    if (found != slot_of.end()) result.push_back({static_cast<Vertex>(i), found->second});
  }
  return result;
}

// Lists of pairs on the levels of a tree.
class ListsOnTree : public Objective {
 public:
  // All must outlive this.
  ListsOnTree(const SlotTree& tree, const Graph& graph, const Context& context, Workers& workers)
      : tree_(tree), graph_(graph), context_(context), workers_(workers) {}

  [[nodiscard]] double cost(const std::vector<Slot>& slot_of) const override {
    return cost_of(tree_, graph_, slot_of, workers_);
  }
  void improve(std::uint64_t seed, std::vector<Slot>& slot_of) const override {
    search_by_swaps(tree_, graph_, context_, seed, workers_, slot_of);
  }

 private:
  const SlotTree& tree_;
  const Graph& graph_;
  const Context& context_;
  Workers& workers_;
};

}  // namespace

Pipeline::Pipeline(const Problem& problem, Workers& workers, const std::vector<Slot>& start)
    : problem_(problem), workers_(workers), pinned_(pinned_vertices(problem)) {
  start_.reserve(problem.order.size());
  for (const pattern::Rank rank : problem.order) start_.push_back(start[at(rank)]);
  start_cost_ = problem.objective.cost(start_);
  best_ = {start_, start_cost_};
}

std::vector<Slot> Pipeline::best_of_ranks() const {
  std::vector<Slot> slots(best_.slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) slots[at(problem_.order[i])] = best_.slots[i];
  return slots;
}

void Pipeline::try_from(std::vector<Slot> slots) {
  if (!workers_.check_now()) return;
  Solution solution{std::move(slots)};
  honour_pins(problem_.tree, pinned_, solution.slots);
  refine(seed_of(problem_.seed, 0), solution);
  keep(std::move(solution));
}

int Pipeline::runs() const {
  constexpr std::size_t kSmall = 1400;  // arcs with which all runs are affordable
  const auto affordable = static_cast<int>(kSmall * at(problem_.context.runs) / (problem_.work + 1));
  return std::clamp(affordable, 1, problem_.context.runs);
}

void Pipeline::try_divisions(const Piece& guide) {
  const int spreads = problem_.order.size() < at(problem_.tree.slots()) ? 2 : 1;
  std::vector<Solution> solutions(at(spreads) * at(runs()));
  const auto steps = static_cast<std::int64_t>(solutions.size() * problem_.work) * 10 * problem_.context.repeats;
  workers_.for_each(static_cast<int>(solutions.size()), steps, [&](int i) {
    if (!workers_.check_now()) return;
    const auto spread = i % spreads == 0 ? Spread::kPacked : Spread::kLoose;
    const std::uint64_t seed = seed_of(problem_.seed, 1 + static_cast<std::uint64_t>(i));
    Solution& solution = solutions[at(i)];
    solution.slots = Multisection(problem_.tree, problem_.context, spread, workers_).place(guide, seed_of(seed, 0));
    honour_pins(problem_.tree, pinned_, solution.slots);
    refine(seed_of(seed, 1), solution);
  });
  for (Solution& solution : solutions) keep(std::move(solution));
}

void Pipeline::try_start() {
  const bool searched = std::cmp_less_equal(problem_.work, problem_.context.search_arcs);
  if (searched && start_cost_ < problem_.near * best_.cost) try_from(start_);
}

void Pipeline::refine(std::uint64_t seed, Solution& solution) const {
  if (std::cmp_less_equal(problem_.work, problem_.context.search_arcs)) {
    problem_.objective.improve(seed, solution.slots);
  }
  solution.cost = problem_.objective.cost(solution.slots);
}

void Pipeline::keep(std::vector<Slot> slots) {
  const double cost = problem_.objective.cost(slots);
  keep(Solution{std::move(slots), cost});
}

void Pipeline::keep(Solution solution) {
  if (solution.cost < best_.cost) best_ = std::move(solution);
}

}  // namespace engine

namespace {

using engine::Context;
using engine::Graph;
using engine::SlotTree;
using pattern::Rank;

// From so many vertices on, planes through a grid are taken for the best there is: they cost less than divisions by the
// pairs there, or at most 0.3 % more (docs/explanation/placement-engine.md).
constexpr engine::Vertex kSettledByPlanes = 100'000;
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
  bool settled = tiling && tiling->settled;
  if (ordered.lattice && !settled) {
    auto planes = engine::divide_lattice(tree, graph, *ordered.lattice);
    const bool spread = !planes.loose.empty() && objective.cost(planes.loose) < objective.cost(planes.packed);
    pipeline.try_from(std::move(spread ? planes.loose : planes.packed));
    settled = planes.uniform && graph.vertices() >= kSettledByPlanes;
  }
  settled = settled && tree.pinned().empty() && options.preset != Preset::kStrong;
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
