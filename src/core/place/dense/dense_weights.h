// What two ranks of a dense pattern exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::place::engine {

// What a pass over so many entries takes, in steps of Workers: it is made in vectors.
inline std::int64_t steps_of_entries(std::size_t entries) { return static_cast<std::int64_t>(entries / 64); }

template <class Number>
struct DenseWeights {
  pattern::MatrixView<Number> matrix;
  bool symmetric = true;  // only rows are read then
  double scale = 1;

  [[nodiscard]] double weight(pattern::Rank a, pattern::Rank b) const {
    const double there = static_cast<double>(matrix.at(a, b)) * scale;
    return symmetric ? 2 * there : there + static_cast<double>(matrix.at(b, a)) * scale;
  }

  // plus[i] += d and minus[i] -= d, where d is what `one` exchanges with the i-th of `others`, less what `other` does.
  void shift_rows(pattern::Rank one, pattern::Rank other, std::span<const pattern::Rank> others, double* plus,
                  double* minus) const {
    if (!symmetric) {
      for (std::size_t i = 0; i < others.size(); ++i) {
        const double more = weight(one, others[i]) - weight(other, others[i]);
        plus[i] += more;
        minus[i] -= more;
      }
      return;
    }
    const Number* first = matrix.row(one);
    const Number* second = matrix.row(other);
    const bool all = others.size() == static_cast<std::size_t>(matrix.ranks);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const auto column = all ? i : static_cast<std::size_t>(others[i]);
      const double more = 2 * scale * (static_cast<double>(first[column]) - static_cast<double>(second[column]));
      plus[i] += more;
      minus[i] -= more;
    }
  }

  // sums[i] += factor x what a rank exchanges with the i-th of `others`; its own entry counts as any. Without symmetry
  // every entry of a column is in a cache line of its own.
  void add_row(pattern::Rank rank, std::span<const pattern::Rank> others, double factor, double* sums) const {
    add_sent(rank, others, (symmetric ? 2 : 1) * factor, sums);
    if (symmetric) return;
    for (std::size_t i = 0; i < others.size(); ++i) {
      sums[i] += factor * scale * static_cast<double>(matrix.at(others[i], rank));
    }
  }

  // The same of what the rank sends: the row alone.
  void add_sent(pattern::Rank rank, std::span<const pattern::Rank> others, double factor, double* sums) const {
    const Number* there = matrix.row(rank);
    const double scaled = factor * scale;
    if (others.size() == static_cast<std::size_t>(matrix.ranks)) {
      for (std::size_t i = 0; i < others.size(); ++i) sums[i] += scaled * static_cast<double>(there[i]);
    } else {
      for (std::size_t i = 0; i < others.size(); ++i) sums[i] += scaled * static_cast<double>(there[others[i]]);
    }
  }
};

}  // namespace ranktree::core::place::engine
