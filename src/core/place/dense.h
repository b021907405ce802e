// Decides which patterns are placed as matrices, and computes costs and bounds of those.
#pragma once

#include <cstddef>
#include <optional>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

constexpr pattern::Rank kFewRanks = 256;  // fewer are placed from lists: better, and fast enough
constexpr pattern::Rank kDenseShare = 4;  // a pattern is dense from one pair in so many on

// True where, in a sample of rows, at least a quarter of the pairs communicate, and the ranks are 256 or more.
bool is_dense(const pattern::Matrix& matrix);

// The same of all pairs of lists: a matrix of them is smaller.
inline bool is_dense(const pattern::Affinity& affinity) {
  const auto ranks = static_cast<std::size_t>(affinity.ranks);
  return affinity.ranks >= kFewRanks && affinity.indices.size() >= ranks * ranks / kDenseShare;
}

// The lists of a matrix that is not dense, or that an algorithm needs as lists. Throws Error(kInput), naming the entry.
pattern::Affinity affinity_of(const pattern::Matrix& matrix);

// Throws Error(kInput), naming the first entry that is negative or not finite; the diagonal does not count. O(ranks^2).
void check_matrix(const pattern::Matrix& matrix);

// As evaluate() and lower_bound() of lists, without any: the matrix is read once, row by row, and in blocks. The bound
// looks at single ranks only. Neither knows networks that are no trees. The matrix has passed check_matrix().
Cost evaluate(const topo::Tree& tree, const pattern::Matrix& matrix, const Placement& placement);
double lower_bound(const topo::Tree& tree, const pattern::Matrix& matrix, const Constraints& constraints);

// The engine's placement for lists that are dense, as a matrix; nothing where an entry of the lists is wrong.
std::optional<Placement> place_as_matrix(const topo::Tree& tree, const pattern::Affinity& affinity,
                                         const EngineOptions& options);

}  // namespace ranktree::core::place
