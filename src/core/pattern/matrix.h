// A pattern as a whole matrix that somebody else owns: what patterns in which most pairs talk are placed from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "core/pattern/pattern.h"

namespace ranktree::core::pattern {

// Row by row; the entry in row i and column j goes from rank i to rank j. What is placed is the sum of both
// directions; the diagonal does not count.
template <class Number>
struct MatrixView {
  Rank ranks = 0;
  const Number* values = nullptr;

  [[nodiscard]] const Number* row(Rank rank) const {
    return values + static_cast<std::size_t>(rank) * static_cast<std::size_t>(ranks);
  }
  [[nodiscard]] Number at(Rank from, Rank to) const { return row(from)[to]; }
};

using Matrix = std::variant<MatrixView<double>, MatrixView<float>>;

inline Rank ranks_of(const Matrix& matrix) {
  return std::visit([](const auto& view) { return view.ranks; }, matrix);
}

}  // namespace ranktree::core::pattern
