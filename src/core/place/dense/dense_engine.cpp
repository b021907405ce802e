#include "core/place/dense/dense_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/dense/dense_scan.h"
#include "core/place/dense/dense_search.h"
#include "core/place/dense/dense_weights.h"
#include "core/place/engine.h"
#include "core/place/engine/context.h"
#include "core/place/engine/pipeline.h"
#include "core/place/graph/graph.h"
#include "core/place/order/ordered.h"
#include "core/place/refine/objective.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::Rank;
using Slot = SlotTree::Slot;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

pattern::Affinity lists_of(const Graph& graph) {
  pattern::Affinity lists;
  lists.ranks = graph.vertices();
  lists.indptr = graph.offset;
  lists.indices.reserve(graph.arcs.size());
  lists.weights.reserve(graph.arcs.size());
  for (const Arc& arc : graph.arcs) {
    lists.indices.push_back(arc.to);
    lists.weights.push_back(arc.weight);
  }
  return lists;
}

// Vertex i becomes what order[i] was.
Graph renumbered(const Graph& graph, const std::vector<Rank>& order) {
  std::vector<Vertex> vertex_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) vertex_of[at(order[i])] = static_cast<Vertex>(i);
  Graph result;
  result.size.assign(order.size(), 1);
  result.arcs.reserve(graph.arcs.size());
  for (const Rank rank : order) {
    const auto begin = static_cast<std::ptrdiff_t>(result.arcs.size());
    for (const Arc& arc : graph.arcs_of(rank)) result.arcs.push_back({vertex_of[at(arc.to)], arc.weight});
    std::sort(result.arcs.begin() + begin, result.arcs.end(), [](const Arc& a, const Arc& b) { return a.to < b.to; });
    result.offset.push_back(static_cast<std::int64_t>(result.arcs.size()));
  }
  return result;
}

// As sparse patterns are ordered, where numbers need not decide.
std::vector<Rank> order_of(const DenseScan& scan, Workers& workers) {
  if (scan.named) return structural_order(lists_of(scan.strongest), workers);
  std::vector<Rank> order(scan.strongest.size.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// A matrix on the levels of a tree.
template <class Number>
class MatrixOnTree : public Objective {
 public:
  MatrixOnTree(DenseSearch search, const DenseWeights<Number>& weights, double total)
      : search_(std::move(search)), weights_(weights), total_(total) {}

  [[nodiscard]] double cost(const std::vector<Slot>& slot_of) const override {
    return cost_of(search_.tree, weights_, total_, by_rank(search_.order, slot_of));
  }
  void improve(std::uint64_t seed, std::vector<Slot>& slot_of) const override {
    engine::improve(search_, weights_, seed, slot_of);
  }

 private:
  DenseSearch search_;
  DenseWeights<Number> weights_;
  double total_;
};

template <class Number>
void place(const SlotTree& tree, const pattern::MatrixView<Number>& matrix, const EngineOptions& options,
           const PlaceLists& place_lists, std::vector<Slot>& slot_of) {
  constexpr std::size_t kStrongest = 16;  // pairs of each rank that guide one bisection; twice as many guide several
  constexpr std::size_t kEntriesOfArc = 64;
  Context context = context_of(options.preset);
  const DenseScan found = scan(matrix, context.repeats > 1 ? 2 * kStrongest : kStrongest);
  const bool spare = slot_of.size() < at(tree.slots());
  if (found.strongest.arcs.empty() && !spare) return;  // all placements cost the same
  if (found.whole && !spare) {
    slot_of = place_lists(lists_of(found.strongest));
    return;
  }
  Workers workers(options.threads, options.keep_going);
  context.annealing = 0;  // of a guide only; exchanges on the whole pattern decide
  context.search_arcs = std::numeric_limits<std::int64_t>::max();
  const std::vector<Rank> order = order_of(found, workers);
  std::vector<std::uint8_t> fixed(tree.pinned().empty() ? 0 : slot_of.size(), 0);
  for (const SlotTree::Pinned& pinned : tree.pinned()) fixed[at(pinned.rank)] = 1;
  const MatrixOnTree<Number> objective({tree, context, workers, std::move(fixed), order},
                                       {matrix, found.symmetric, found.scale}, found.total);
  const std::size_t work = slot_of.size() * slot_of.size() / kEntriesOfArc;
  // From farther away the search is slow and ends worse.
  const Problem problem{tree, objective, order, context, options.seed, work, 1.0};
  Pipeline pipeline(problem, workers, slot_of);
  pipeline.try_divisions(guide_of(renumbered(found.strongest, order), workers));
  pipeline.try_start();
  slot_of = pipeline.best_of_ranks();
}

}  // namespace

void place_dense(const SlotTree& tree, const pattern::Matrix& matrix, const EngineOptions& options,
                 const PlaceLists& place_lists, std::vector<Slot>& slot_of) {
  std::visit([&](const auto& view) { place(tree, view, options, place_lists, slot_of); }, matrix);
}

}  // namespace ranktree::core::place::engine
