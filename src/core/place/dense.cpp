#include "core/place/dense.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/dense/dense_engine.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/place/slots/slot_tree.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using engine::SlotTree;
using pattern::Matrix;
using pattern::MatrixView;
using pattern::Rank;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

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

Placement place_matrix(const topo::Tree& tree, const Matrix& matrix, const Placement& start,
                       const EngineOptions& options) {
  const SlotTree slots(tree, options.constraints);
  const auto place_lists = [&](const pattern::Affinity& lists) {
    return engine::slots_of(slots, run_engine(tree, lists, options));
  };
  auto slot_of = engine::slots_of(slots, start);
  engine::place_dense(slots, matrix, options, place_lists, slot_of);
  return engine::placement_of(slots, slot_of);
}

Placement start_of(const topo::Tree& tree, Rank ranks, const EngineOptions& options) {
  if (!options.start) return identity(tree, ranks, options.constraints);
  engine::check_start(tree, *options.start, ranks, options.constraints);
  return *options.start;
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
  return place_matrix(tree, matrix, start_of(tree, affinity.ranks, options), options);
}

Placement run_engine(const topo::Tree& tree, const Matrix& matrix, const EngineOptions& options) {
  if (!is_dense(matrix) || tree.interconnect() != nullptr) return run_engine(tree, affinity_of(matrix), options);
  const Rank ranks = pattern::ranks_of(matrix);
  require_slots(tree, ranks, options.constraints);
  return place_matrix(tree, matrix, start_of(tree, ranks, options), options);
}

}  // namespace ranktree::core::place
