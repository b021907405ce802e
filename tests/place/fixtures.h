// Small machines and patterns for the tests of placement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::test {

using core::pattern::Affinity;
using core::topo::Kind;
using core::topo::Tree;

// A symmetric machine: nodes below the root, then packages, ..., cores last.
inline Tree machine(const std::vector<int>& arities) {
  constexpr Kind kKinds[] = {Kind::kCluster, Kind::kNode, Kind::kPackage, Kind::kL3, Kind::kL2, Kind::kCore};
  std::vector<core::topo::Level> levels{{Kind::kCluster, {}, {}}};
  for (std::size_t i = 1; i < arities.size(); ++i) levels.push_back({kKinds[i], {}, {}});
  levels.push_back({Kind::kCore, {}, {}});
  return core::topo::uniform_tree(levels, arities);
}

inline double cost(const Tree& tree, const Affinity& affinity, const core::place::Placement& placement) {
  return core::place::evaluate(tree, affinity, placement).total;
}

// A symmetric matrix as the graph placement works on.
inline Affinity from_matrix(const std::vector<std::vector<double>>& matrix) {
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

inline std::vector<std::vector<double>> to_matrix(const Affinity& affinity) {
  std::vector<std::vector<double>> matrix(static_cast<std::size_t>(affinity.ranks),
                                          std::vector<double>(static_cast<std::size_t>(affinity.ranks), 0));
  for (core::pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
    for (std::size_t i = 0; i < affinity.neighbours(rank).size(); ++i) {
      matrix[static_cast<std::size_t>(rank)][static_cast<std::size_t>(affinity.neighbours(rank)[i])] =
          affinity.weights_of(rank)[i];
    }
  }
  return matrix;
}

// Random symmetric weights 0..limit-1, about `density` percent of the pairs.
inline Affinity random_affinity(int ranks, int density, std::uint64_t limit, std::uint64_t seed) {
  core::Random random(seed);
  std::vector<std::vector<double>> matrix(static_cast<std::size_t>(ranks),
                                          std::vector<double>(static_cast<std::size_t>(ranks), 0));
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (random.below(100) >= static_cast<std::uint64_t>(density)) continue;
      matrix[i][j] = matrix[j][i] = static_cast<double>(random.below(limit));
    }
  }
  return from_matrix(matrix);
}

// Ranks renumbered: rank i becomes order[i].
inline Affinity relabelled(const Affinity& affinity, const std::vector<int>& order) {
  const auto matrix = to_matrix(affinity);
  auto result = matrix;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      result[static_cast<std::size_t>(order[i])][static_cast<std::size_t>(order[j])] = matrix[i][j];
    }
  }
  return from_matrix(result);
}

// Renumbered at random.
inline Affinity renumbered(const Affinity& affinity, std::uint64_t seed) {
  core::Random random(seed);
  std::vector<int> order(static_cast<std::size_t>(affinity.ranks));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return relabelled(affinity, order);
}

// Neighbours on a grid exchange `weight`; ranks are numbered row by row, the last dimension fastest.
inline Affinity lattice(const std::vector<int>& sizes, const std::vector<std::uint8_t>& wraps, double weight) {
  const int ranks = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
  std::vector<std::vector<double>> matrix(static_cast<std::size_t>(ranks),
                                          std::vector<double>(static_cast<std::size_t>(ranks), 0));
  for (int rank = 0; rank < ranks; ++rank) {
    int stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) {
      const int here = rank / stride % sizes[i];
      if (here + 1 == sizes[i] && (wraps[i] == 0 || sizes[i] < 3)) continue;
      const auto a = static_cast<std::size_t>(rank);
      const int other = rank + ((here + 1) % sizes[i] - here) * stride;
      const auto b = static_cast<std::size_t>(other);
      matrix[a][b] = matrix[b][a] = weight;
    }
  }
  return from_matrix(matrix);
}

}  // namespace ranktree::test
