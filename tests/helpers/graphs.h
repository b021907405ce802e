// Communication graphs for the tests of placement, by name. Edges weigh 1 unless the graph has a weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"

namespace ranktree::test {

using core::at;
using core::pattern::Affinity;

using Matrix = std::vector<std::vector<double>>;

// Weights of undirected edges, by their ends in either order; equal ends do not count.
using Edges = std::map<std::pair<int, int>, double>;

// Edges in both orders add up. Rows are sorted.
inline Affinity from_edges(int ranks, const Edges& edges) {
  std::vector<std::map<int, double>> rows(at(ranks));
  for (const auto& [ends, weight] : edges) {
    if (ends.first == ends.second || weight == 0) continue;
    rows[at(ends.first)][ends.second] += weight;
    rows[at(ends.second)][ends.first] += weight;
  }
  Affinity affinity;
  affinity.ranks = ranks;
  for (const auto& row : rows) {
    for (const auto& [peer, weight] : row) {
      affinity.indices.push_back(peer);
      affinity.weights.push_back(weight);
    }
    affinity.indptr.push_back(static_cast<std::int64_t>(affinity.indices.size()));
  }
  return affinity;
}

inline Edges to_edges(const Affinity& affinity) {
  Edges edges;
  for (core::pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto peers = affinity.neighbours(rank);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (rank < peers[i]) edges[{rank, peers[i]}] = affinity.weights_of(rank)[i];
    }
  }
  return edges;
}

// A symmetric matrix as the graph placement works on.
inline Affinity from_matrix(const Matrix& matrix) {
  Affinity affinity;
  affinity.ranks = static_cast<core::pattern::Rank>(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      if (i == j || matrix[i][j] == 0) continue;
      affinity.indices.push_back(static_cast<core::pattern::Rank>(j));
      affinity.weights.push_back(matrix[i][j]);
    }
    affinity.indptr.push_back(static_cast<std::int64_t>(affinity.indices.size()));
  }
  return affinity;
}

inline Matrix to_matrix(const Affinity& affinity) {
  Matrix matrix(at(affinity.ranks), std::vector<double>(at(affinity.ranks), 0));
  for (const auto& [ends, weight] : to_edges(affinity)) {
    matrix[at(ends.first)][at(ends.second)] = matrix[at(ends.second)][at(ends.first)] = weight;
  }
  return matrix;
}

//  0 -- 1 -- 2 -- 3
inline Affinity path(int ranks, double weight = 1) {
  Edges edges;
  for (int rank = 0; rank + 1 < ranks; ++rank) edges[{rank, rank + 1}] = weight;
  return from_edges(ranks, edges);
}

//  0 -- 1 -- 2 -- 3
//  |              |
//  +--------------+
inline Affinity ring(int ranks, double weight = 1) {
  Edges edges = to_edges(path(ranks, weight));
  if (ranks > 2) edges[{0, ranks - 1}] = weight;
  return from_edges(ranks, edges);
}

//      1
//      |
//  4 - 0 - 2
//      |
//      3
inline Affinity star(int ranks, double weight = 1) {
  Edges edges;
  for (int rank = 1; rank < ranks; ++rank) edges[{0, rank}] = weight;
  return from_edges(ranks, edges);
}

//  grid (wraps 0)        torus (wraps 1): the last of a row or column is the neighbour of the first as well
//  0 - 1 - 2
//  |   |   |
//  3 - 4 - 5
//
// Ranks are numbered row by row, the last dimension fastest. A dimension of fewer than three does not wrap.
inline Affinity lattice(const std::vector<int>& sizes, const std::vector<std::uint8_t>& wraps, double weight) {
  const int ranks = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
  Edges edges;
  for (int rank = 0; rank < ranks; ++rank) {
    int stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) {
      const int here = rank / stride % sizes[i];
      if (here + 1 == sizes[i] && (wraps[i] == 0 || sizes[i] < 3)) continue;
      edges[std::minmax({rank, rank + ((here + 1) % sizes[i] - here) * stride})] = weight;
    }
  }
  return from_edges(ranks, edges);
}

inline Affinity grid(const std::vector<int>& sizes, double weight = 1) {
  return lattice(sizes, std::vector<std::uint8_t>(sizes.size(), 0), weight);
}

inline Affinity torus(const std::vector<int>& sizes, double weight = 1) {
  return lattice(sizes, std::vector<std::uint8_t>(sizes.size(), 1), weight);
}

//  0 --- 1        4 --- 5
//  | \ / |        | \ / |
//  | / \ |   ..   | / \ |      cliques of `size`, edges `inside`; neighbouring cliques joined by one edge of 1
//  2 --- 3 ------ 6 --- 7
inline Affinity cliques(int count, int size, double inside = 10) {
  Edges edges;
  for (int first = 0; first < count * size; first += size) {
    for (int i = first; i < first + size; ++i) {
      for (int j = first; j < i; ++j) edges[{j, i}] = inside;
    }
    if (first > 0) edges[{first - 1, first}] = 1;
  }
  return from_edges(count * size, edges);
}

inline Affinity two_cliques(int size, double inside = 10) { return cliques(2, size, inside); }

// A spine of `joints` with `legs` each; joint and legs are numbered one after the other.
//
//  0 ------ 3 ------ 6
//  |\       |\       |\                       legs weigh `leg`, the spine 1
//  1 2      4 5      7 8
inline Affinity caterpillar(int joints, int legs, double leg = 10) {
  Edges edges;
  for (int joint = 0; joint < joints; ++joint) {
    const int root = joint * (legs + 1);
    for (int i = 1; i <= legs; ++i) edges[{root, root + i}] = leg;
    if (joint > 0) edges[{root - legs - 1, root}] = 1;
  }
  return from_edges(joints * (legs + 1), edges);
}

// All pairs talk, by `factor` more with each level of a machine they share:
//
//   arities {2, 2}, factor 4     [ 0 1 ][ 2 3 ]
//     0-1, 2-3: 4                each pair across the middle: 1
inline Affinity hierarchy(const std::vector<int>& arities, double factor) {
  const int ranks = std::accumulate(arities.begin(), arities.end(), 1, std::multiplies<>());
  Edges edges;
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < i; ++j) {
      double weight = 1;
      int block = ranks;
      for (const int arity : arities) {
        block /= arity;
        if (i / block == j / block) weight *= factor;
      }
      edges[{j, i}] = weight;
    }
  }
  return from_edges(ranks, edges);
}

// Random symmetric weights 0..limit-1, about `density` percent of the pairs.
inline Affinity random_affinity(int ranks, int density, std::uint64_t limit, std::uint64_t seed) {
  core::Random random(seed);
  Edges edges;
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < i; ++j) {
      if (random.below(100) >= static_cast<std::uint64_t>(density)) continue;
      edges[{j, i}] = static_cast<double>(random.below(limit));
    }
  }
  return from_edges(ranks, edges);
}

// Blocks of `size` ranks in which all pairs talk, weight 10, and about `noise` percent of the other pairs, weight 1:
//
//    [#### .  . ]
//    [ . ####  .]
//    [.  .  ####]
inline Affinity planted_blocks(int count, int size, int noise, std::uint64_t seed) {
  Edges edges = to_edges(random_affinity(count * size, noise, 2, seed));
  for (int i = 0; i < count * size; ++i) {
    for (int j = 0; j < i; ++j) {
      if (i / size == j / size) edges[{j, i}] = 10;
    }
  }
  return from_edges(count * size, edges);
}

// Few ranks talk to most: the chance of a pair falls with the product of its numbers.
inline Affinity hubs(int ranks, int pairs, std::uint64_t seed) {
  core::Random random(seed);
  const auto draw = [&] {
    const double share = static_cast<double>(random.below(1U << 20U)) / (1U << 20U);
    return static_cast<int>(std::pow(share, 4) * ranks);
  };
  Edges edges;
  for (int i = 0; i < pairs; ++i) {
    const int a = draw();
    const int b = draw();
    if (a != b) edges[std::minmax({a, b})] = 1;
  }
  return from_edges(ranks, edges);
}

// 0, 1, ..., count - 1 in random order.
inline std::vector<int> shuffled(int count, std::uint64_t seed) {
  core::Random random(seed);
  std::vector<int> order(at(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

// Ranks renumbered: rank i becomes order[i].
inline Affinity relabelled(const Affinity& affinity, const std::vector<int>& order) {
  Edges edges;
  for (const auto& [ends, weight] : to_edges(affinity)) {
    edges[std::minmax({order[at(ends.first)], order[at(ends.second)]})] = weight;
  }
  return from_edges(affinity.ranks, edges);
}

// Renumbered at random.
inline Affinity renumbered(const Affinity& affinity, std::uint64_t seed) {
  return relabelled(affinity, shuffled(affinity.ranks, seed));
}

}  // namespace ranktree::test
