#include "core/place/dense.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
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
#include "core/place/placement.h"
#include "core/place/slots/slot_tree.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using engine::Arc;
using engine::Context;
using engine::DenseScan;
using engine::DenseSearch;
using engine::DenseWeights;
using engine::Graph;
using engine::SlotTree;
using engine::Vertex;
using pattern::Matrix;
using pattern::MatrixView;
using pattern::Rank;
using Slot = SlotTree::Slot;

// Counts the pairs of some evenly spaced rows.
template <class Number>
bool looks_dense(const MatrixView<Number>& matrix) {
  constexpr Rank kRows = 64;
  std::int64_t talking = 0;
  for (Rank i = 0; i < kRows; ++i) {
    const Number* row = matrix.row(static_cast<Rank>(std::int64_t{i} * matrix.ranks / kRows));
    talking += matrix.ranks - std::count(row, row + matrix.ranks, Number{0});
  }
  return talking * kDenseShare >= std::int64_t{kRows} * matrix.ranks;
}

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
  if (scan.named) return engine::structural_order(lists_of(scan.strongest), workers);
  std::vector<Rank> order(scan.strongest.size.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// A matrix on the levels of a tree.
template <class Number>
class MatrixOnTree : public engine::Objective {
 public:
  MatrixOnTree(DenseSearch search, const DenseWeights<Number>& weights, double total)
      : search_(std::move(search)), weights_(weights), total_(total) {}

  [[nodiscard]] double cost(const std::vector<Slot>& slot_of) const override {
    return engine::cost_of(search_.tree, weights_, total_, engine::by_rank(search_.order, slot_of));
  }
  void improve(std::uint64_t seed, std::vector<Slot>& slot_of) const override {
    engine::improve(search_, weights_, seed, slot_of);
  }

 private:
  DenseSearch search_;
  DenseWeights<Number> weights_;
  double total_;
};

// Never makes the start more expensive. Where every slot is taken, the weight that all pairs have in common costs the
// same in every placement: if few pairs have more, only these are placed, as lists.
template <class Number>
Placement place(const topo::Tree& tree, const MatrixView<Number>& matrix, const Placement& start,
                const EngineOptions& options) {
  constexpr std::size_t kStrongest = 16;  // pairs of each rank that guide one bisection; twice as many guide several
  const SlotTree slots(tree, options.constraints);
  const std::size_t ranks = at(matrix.ranks);
  Context context = engine::context_of(options.preset);
  Workers workers(options.threads, options.keep_going);
  const DenseScan found = engine::scan(matrix, context.repeats > 1 ? 2 * kStrongest : kStrongest, workers);
  const bool spare = ranks < at(slots.slots());
  if (found.strongest.arcs.empty() && !spare) return start;  // all placements cost the same
  if (found.whole && !spare) return run_engine(tree, lists_of(found.strongest), options);
  context.annealing = 0;  // of a guide only; exchanges on the whole pattern decide
  if (context.repeats == 1) {
    context.runs = 1;  // a second bisection gains more than a second placement, in less time
    context.repeats = 2;
  }
  context.search_arcs = std::numeric_limits<std::int64_t>::max();
  const std::vector<Rank> order = order_of(found, workers);
  std::vector<std::uint8_t> fixed(slots.pinned().empty() ? 0 : ranks, 0);
  for (const SlotTree::Pinned& pinned : slots.pinned()) fixed[at(pinned.rank)] = 1;
  const MatrixOnTree<Number> objective({slots, context, workers, std::move(fixed), order},
                                       {matrix, found.symmetric, found.scale}, found.total);
  const std::size_t work = at(engine::steps_of_entries(ranks * ranks));
  // From farther away the search is slow and ends worse.
  const engine::Problem problem{slots, objective, order, context, options.seed, work, 1.0};
  engine::Pipeline pipeline(problem, workers, engine::slots_of(slots, start));
  pipeline.try_divisions(engine::guide_of(renumbered(found.strongest, order), workers));
  pipeline.try_start();
  return engine::placement_of(slots, pipeline.best_of_ranks());
}

Placement place_matrix(const topo::Tree& tree, const Matrix& matrix, const EngineOptions& options) {
  const Rank ranks = pattern::ranks_of(matrix);
  if (options.start) engine::check_start(tree, *options.start, ranks, options.constraints);
  const Placement start = options.start ? *options.start : identity(tree, ranks, options.constraints);
  return std::visit([&](const auto& view) { return place(tree, view, start, options); }, matrix);
}

}  // namespace

bool is_dense(const Matrix& matrix) {
  if (pattern::ranks_of(matrix) < kFewRanks) return false;
  return std::visit([](const auto& view) { return looks_dense(view); }, matrix);
}

pattern::Affinity affinity_of(const Matrix& matrix) {
  const auto ranks = pattern::ranks_of(matrix);
  const std::size_t count = at(ranks) * at(ranks);
  if (const auto* view = std::get_if<MatrixView<double>>(&matrix)) {
    return pattern::affinity(ranks, std::span(view->values, count));
  }
  const auto* values = std::get<MatrixView<float>>(matrix).values;
  const std::vector<double> wide(values, values + count);
  return pattern::affinity(ranks, wide);
}

std::optional<Placement> place_as_matrix(const topo::Tree& tree, const pattern::Affinity& affinity,
                                         const EngineOptions& options) {
  const std::size_t ranks = at(affinity.ranks);
  std::vector<double> values(ranks * ranks, 0);
  for (Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto neighbours = affinity.neighbours(rank);
    const auto weights = affinity.weights_of(rank);
    // Half for each direction; nothing else keeps the matrix symmetric, whose rows alone are read then.
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] < 0 || neighbours[i] >= affinity.ranks || !(weights[i] >= 0)) return std::nullopt;
      values[at(rank) * ranks + at(neighbours[i])] = weights[i] / 2;
    }
  }
  const MatrixView<double> matrix{affinity.ranks, values.data()};
  return place_matrix(tree, matrix, options);
}

Placement run_engine(const topo::Tree& tree, const Matrix& matrix, const EngineOptions& options) {
  if (!is_dense(matrix) || tree.interconnect() != nullptr) return run_engine(tree, affinity_of(matrix), options);
  require_slots(tree, pattern::ranks_of(matrix), options.constraints);
  return place_matrix(tree, matrix, options);
}

}  // namespace ranktree::core::place
