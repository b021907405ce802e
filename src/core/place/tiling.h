// Boxes of a grid on the levels of a symmetric tree: every subtree holds a box, and a level cuts its boxes into equal
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ranktree::core::place {

using Box = std::vector<int>;  // edges, by dimension

// So many kinds of box are kept on each level, the cheapest first. With more kinds, the result may miss the cheapest
// tiling.
inline constexpr std::size_t kTilingWidth = 4096;

struct TiledLevels {
  std::span<const int> arities;   // root first
  std::span<const double> costs;  // of the pairs that each level separates
};

struct BoxTiling {
  std::vector<Box> boxes;  // the whole grid, then what the subtrees of each level hold, single vertices last
  double cost = 0;
};

// The cheapest of all tilings: a shortest path from the whole grid to single vertices, where what a level costs depends
// on the boxes above and below it alone. `cut` is the weight between different boxes when the grid is cut into boxes of
// one kind. Ties go to the lexicographically smallest boxes. Nothing where no tiling is even. O(kinds of box x
// factorizations of an arity) a level.
std::optional<BoxTiling> cheapest_boxes(const Box& whole, const TiledLevels& levels,
                                        const std::function<double(const Box&)>& cut, std::size_t width = kTilingWidth);

// The position of a vertex among all leaves from left to right; `vertex` counts row by row, the last dimension fastest.
std::int64_t leaf_in(const std::vector<Box>& boxes, std::int64_t vertex);

}  // namespace ranktree::core::place
