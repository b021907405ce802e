// What two ranks of a dense pattern exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::place::engine {

template <class Number>
struct DenseWeights {
  pattern::MatrixView<Number> matrix;
  bool symmetric = true;  // only rows are read then
  double scale = 1;

  [[nodiscard]] double weight(pattern::Rank a, pattern::Rank b) const {
    const double there = static_cast<double>(matrix.at(a, b)) * scale;
    return symmetric ? 2 * there : there + static_cast<double>(matrix.at(b, a)) * scale;
  }

  // sums[i] += factor x what a rank exchanges with the i-th of `others`; its own entry counts as any.
  void add_row(pattern::Rank rank, std::span<const pattern::Rank> others, double factor, double* sums) const {
    const Number* there = matrix.row(rank);
    const double scaled = (symmetric ? 2 : 1) * factor * scale;
    if (others.size() == static_cast<std::size_t>(matrix.ranks)) {
      for (std::size_t i = 0; i < others.size(); ++i) sums[i] += scaled * static_cast<double>(there[i]);
    } else {
      for (std::size_t i = 0; i < others.size(); ++i) sums[i] += scaled * static_cast<double>(there[others[i]]);
    }
    if (symmetric) return;
    const auto step = static_cast<std::size_t>(matrix.ranks);
    const Number* back = matrix.values + rank;
    for (std::size_t i = 0; i < others.size(); ++i) {
      sums[i] += scaled * static_cast<double>(back[static_cast<std::size_t>(others[i]) * step]);
    }
  }
};

}  // namespace ranktree::core::place::engine
