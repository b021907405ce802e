// What the ranks of a dense pattern are called by: how much they exchange, not how they are numbered.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::place::engine {

// Ranks by what they exchange with all others, the least first, then by the squares of it; `names` becomes a hash of
// both for each rank. Numbers decide only between those who have both in common. Reads the matrix once, row by row.
// Where some ranks looked at have them in common mostly, as in a grid, ties are better drawn at random: then there is
// no order, and names are numbers.
template <class Number>
std::vector<pattern::Rank> order_by_sums(const pattern::MatrixView<Number>& matrix, bool symmetric,
                                         std::vector<std::uint32_t>& names);

extern template std::vector<pattern::Rank> order_by_sums(const pattern::MatrixView<double>&, bool,
                                                         std::vector<std::uint32_t>&);
extern template std::vector<pattern::Rank> order_by_sums(const pattern::MatrixView<float>&, bool,
                                                         std::vector<std::uint32_t>&);

}  // namespace ranktree::core::place::engine
