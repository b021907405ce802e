// The order in which the vertices of a graph are visited.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// Shuffles vertices that are in the order of memory. Many are shuffled in runs only, and the runs among each other, so
// that consecutive visits are often near in memory.
inline void shuffle(std::vector<Vertex>& order, Random& random) {
  constexpr std::size_t kMuch = 16384;
  constexpr std::size_t kRun = 64;
  const auto shuffle_range = [&random](std::vector<Vertex>& range, std::size_t begin, std::size_t end) {
    for (std::size_t i = end - begin; i > 1; --i) std::swap(range[begin + i - 1], range[begin + random.below(i)]);
  };
  if (order.size() <= kMuch) {
    shuffle_range(order, 0, order.size());
    return;
  }
  std::vector<Vertex> runs((order.size() + kRun - 1) / kRun);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i] = static_cast<Vertex>(i);
  shuffle_range(runs, 0, runs.size());
  std::vector<Vertex> result;
  result.reserve(order.size());
  for (const Vertex run : runs) {
    const std::size_t begin = static_cast<std::size_t>(run) * kRun;
    const std::size_t end = std::min(begin + kRun, order.size());
    shuffle_range(order, begin, end);
    result.insert(result.end(), order.begin() + static_cast<std::ptrdiff_t>(begin),
                  order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  order = std::move(result);
}

}  // namespace ranktree::core::place::engine
