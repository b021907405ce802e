// 27-point stencils with shuffled numbers, each rank's part made separately.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/split/chain.h"
#include "core/topo/kind.h"

namespace ranktree::bench {

struct Edges {
  std::vector<int> peers;
  std::vector<double> weights;
};

struct Grid {
  int x, y, z;
  [[nodiscard]] int size() const { return x * y * z; }
};

// A permutation of 0 .. size-1 that needs no memory: it mixes all numbers below the next power of two, repeatedly until
// the result is inside the range.
class Shuffle {
 public:
  explicit Shuffle(int size) : size_(static_cast<std::uint32_t>(size)) {
    while ((1U << bits_) < size_) ++bits_;
  }
  [[nodiscard]] int of(int number) const { return walk(number, true); }
  [[nodiscard]] int back(int number) const { return walk(number, false); }

 private:
  [[nodiscard]] int walk(int number, bool forth) const {
    auto value = static_cast<std::uint32_t>(number);
    do {
      value = forth ? mix(value) : unmix(value);
    } while (value >= size_);
    return static_cast<int>(value);
  }
  // Rounds of a Feistel network on the upper and the lower half of the bits; an odd bit stays with the upper half.
  [[nodiscard]] std::uint32_t mix(std::uint32_t value) const {
    for (std::uint32_t round = 0; round < 6; ++round) value = turn(value, round);
    return value;
  }
  [[nodiscard]] std::uint32_t unmix(std::uint32_t value) const {
    for (std::uint32_t round = 6; round-- > 0;) value = turn(value, round);
    return value;
  }
  // Its own inverse: each step changes one half by the other.
  [[nodiscard]] std::uint32_t turn(std::uint32_t value, std::uint32_t round) const {
    const std::uint32_t low_bits = bits_ / 2;
    const std::uint32_t low = value & ((1U << low_bits) - 1);
    const std::uint32_t high = value >> low_bits;
    if (round % 2 == 0) {
      const std::uint32_t other = ((low + round) * 0x9e3779b1U ^ 0x5bd1e995U) >> 7U;
      return ((high ^ (other & ((1U << (bits_ - low_bits)) - 1))) << low_bits) | low;
    }
    const std::uint32_t other = ((high + round) * 0x85ebca6bU ^ 0x27d4eb2fU) >> 9U;
    return (high << low_bits) | (low ^ (other & ((1U << low_bits) - 1)));
  }

  std::uint32_t size_;
  std::uint32_t bits_ = 1;
};

inline Edges edges_of(const Grid& grid, const Shuffle& shuffle, int vertex) {
  const int cell = shuffle.back(vertex);
  const int x = cell / (grid.y * grid.z);
  const int y = cell / grid.z % grid.y;
  const int z = cell % grid.z;
  std::map<int, double> edges;
  for (int step = 0; step < 27; ++step) {
    const int a = x + step / 9 - 1;
    const int b = y + step / 3 % 3 - 1;
    const int c = z + step % 3 - 1;
    const int far = (a != x ? 1 : 0) + (b != y ? 1 : 0) + (c != z ? 1 : 0);
    if (far == 0 || a < 0 || a >= grid.x || b < 0 || b >= grid.y || c < 0 || c >= grid.z) continue;
    edges[shuffle.of((a * grid.y + b) * grid.z + c)] = far == 1 ? 100 : far == 2 ? 10 : 1;
  }
  Edges own;
  for (const auto& [peer, weight] : edges) {
    own.peers.push_back(peer);
    own.weights.push_back(weight);
  }
  return own;
}

inline core::split::Chain chain_of(int rank, int cores) {
  using core::topo::Kind;
  return {{Kind::kNode, rank / cores}, {Kind::kPackage, rank / (cores / 2)}, {Kind::kNumaNode, rank / (cores / 8)}};
}

}  // namespace ranktree::bench
