// Graphs and machines for the tests of placing without a centre.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "helpers/graphs.h"

namespace ranktree::test {

inline std::size_t place_of(std::int64_t index) { return at(index); }

// Neighbours across faces 100, across edges 10, across corners 1 where `corners`; numbers shuffled unless seed is 0.
inline core::pattern::Affinity stencil(int x, int y, int z, bool corners, std::uint64_t seed) {
  const int count = x * y * z;
  std::vector<int> order = shuffled(count, seed);
  if (seed == 0) {
    for (int i = 0; i < count; ++i) order[place_of(i)] = i;
  }
  Edges edges;
  for (int vertex = 0; vertex < count; ++vertex) {
    for (int step = 14; step < 27; ++step) {
      const int far[] = {step / 9 - 1, step / 3 % 3 - 1, step % 3 - 1};
      const int sum = far[0] * far[0] + far[1] * far[1] + far[2] * far[2];
      const int cell[] = {vertex / (y * z) + far[0], vertex / z % y + far[1], vertex % z + far[2]};
      if (cell[0] < 0 || cell[0] >= x || cell[1] < 0 || cell[1] >= y || cell[2] < 0 || cell[2] >= z) continue;
      if (sum > 1 && !corners) continue;
      const int peer = (cell[0] * y + cell[1]) * z + cell[2];
      edges[{order[place_of(vertex)], order[place_of(peer)]}] = sum == 1 ? 100 : sum == 2 ? 10 : 1;
    }
  }
  return from_edges(count, edges);
}

// So many edges between random vertices, weights 1..100.
inline core::pattern::Affinity random_graph(int vertices, int edge_count, std::uint64_t seed) {
  core::Random random(seed);
  Edges edges;
  for (int i = 0; i < edge_count && vertices > 1; ++i) {
    const int one = static_cast<int>(random.below(place_of(vertices)));
    const int other = static_cast<int>(random.below(place_of(vertices)));
    if (one != other) edges[{one, other}] = static_cast<double>(1 + random.below(100));
  }
  return from_edges(vertices, edges);
}

// Points in a square, those near each other tied together the more the nearer they are.
inline core::pattern::Affinity geometric(int vertices, double radius, std::uint64_t seed) {
  core::Random random(seed);
  const auto coordinate = [&random] { return static_cast<double>(random.below(1 << 20)) / (1 << 20); };
  std::vector<std::pair<double, double>> points(place_of(vertices));
  for (auto& [a, b] : points) a = coordinate(), b = coordinate();
  Edges edges;
  for (int one = 0; one < vertices; ++one) {
    for (int other = 0; other < one; ++other) {
      const double dx = points[place_of(one)].first - points[place_of(other)].first;
      const double dy = points[place_of(one)].second - points[place_of(other)].second;
      const double near = 1 - (dx * dx + dy * dy) / (radius * radius);
      if (near > 0) edges[{one, other}] = 1 + static_cast<int>(100 * near);
    }
  }
  return from_edges(vertices, edges);
}

// NAS CG on a square grid of a power of two a side: partners at distances 1, 2, 4, ... in a row, and the transposed.
inline core::pattern::Affinity conjugate_gradient(int side, std::uint64_t seed) {
  const std::vector<int> order = shuffled(side * side, seed);
  Edges edges;
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      const int own = order[place_of(row * side + column)];
      for (int bit = 1; bit < side; bit *= 2) {
        if ((column & bit) == 0) edges[{own, order[place_of(row * side + (column ^ bit))]}] += 200;
      }
      if (row < column) edges[{own, order[place_of(column * side + row)]}] += 200;
    }
  }
  return from_edges(side * side, edges);
}

// Where ranks 0, 1, ... are in a symmetric machine of nodes, packages, ..., arities root first, filled from the left;
// the last level is the ranks themselves. With `round_robin` rank after rank goes to the next node.
inline std::vector<core::split::Chain> machine_chains(const std::vector<int>& arities, int ranks,
                                                      bool round_robin = false) {
  constexpr core::topo::Kind kKinds[] = {core::topo::Kind::kNode, core::topo::Kind::kPackage,
                                         core::topo::Kind::kNumaNode, core::topo::Kind::kL3};
  int leaves = 1;
  for (const int arity : arities) leaves *= arity;
  const int nodes = arities.front();
  std::vector<core::split::Chain> chains(place_of(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const int leaf = round_robin ? rank % nodes * (leaves / nodes) + rank / nodes : rank;
    int below = leaves;
    for (std::size_t level = 0; level + 1 < arities.size(); ++level) {
      below /= arities[level];
      chains[place_of(rank)].push_back({kKinds[level], leaf / below});
    }
  }
  return chains;
}

}  // namespace ranktree::test
