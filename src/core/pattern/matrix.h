// A pattern as a dense matrix in the caller's memory, for placing patterns in which most pairs communicate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "core/pattern/pattern.h"

namespace ranktree::core::pattern {

// Row by row; the entry in row i and column j goes from rank i to rank j. Placement uses the sum of both directions and
// ignores the diagonal.
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
