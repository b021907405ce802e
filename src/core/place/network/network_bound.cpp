#include "core/place/network/network_bound.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/network/distances.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {
namespace {

constexpr int kCounted = 4096;

// least[i]: no slot has its (i + 1)-th nearest other slot nearer.
class NearestSlots {
 public:
  NearestSlots(const Distances& distances, std::size_t most) : distances_(distances) {
    const auto others = at(std::max(distances.slots() - 1, 0));
    least_.assign(std::min(most, others), -1);
    if (distances.nodes() <= kCounted) {
      for (int node = 0; node < distances.nodes(); ++node) add_node(node);
    } else {
      add_any_node();
    }
  }

  [[nodiscard]] const std::vector<double>& least() const { return least_; }

 private:
  // From the node's slots: of its own slots the nearest of any, then the other nodes'.
  void add_node(int node) {
    const Slot own = distances_.capacity(node);
    if (own == 0) return;
    std::vector<std::pair<double, Slot>> groups;  // distance, slots
    for (int other = 0; other < distances_.nodes(); ++other) {
      if (other != node) groups.emplace_back(distances_.between(node, other), distances_.capacity(other));
    }
    std::vector<double> inside = nearest_inside(node);
    for (const double each : inside) groups.emplace_back(each, 1);
    std::sort(groups.begin(), groups.end());
    take(groups);
  }

  void add_any_node() {
    Slot most = 0;
    std::vector<double> inside;
    for (int node = 0; node < distances_.nodes(); ++node) most = std::max(most, distances_.capacity(node));
    std::vector<std::uint8_t> seen;
    for (int node = 0; node < distances_.nodes(); ++node) {
      const auto form = at(distances_.form(node));
      seen.resize(std::max(seen.size(), form + 1), 0);
      if (std::exchange(seen[form], std::uint8_t{1}) != 0) continue;
      lower(inside, nearest_inside(node));
    }
    std::vector<std::pair<double, Slot>> groups;
    groups.reserve(inside.size() + 1);
    for (const double each : inside) groups.emplace_back(each, 1);
    // A node that has fewer slots has more outside; those cost no less than the nearest node.
    groups.emplace_back(distances_.tree().cost(0), distances_.slots());
    std::sort(groups.begin(), groups.end());
    take(groups);
  }

  // For each i the least distance of a slot of the node to its i-th nearest slot there.
  [[nodiscard]] std::vector<double> nearest_inside(int node) const {
    const Slot first = distances_.first_slot(node);
    const Slot count = distances_.capacity(node);
    // Of large nodes, none is nearer than the nearest.
    constexpr Slot kLarge = 512;
    if (count > kLarge) return std::vector<double>(at(count - 1), distances_.least());
    std::vector<double> result;
    for (Slot slot = first; slot < first + count; ++slot) {
      std::vector<double> row;
      for (Slot other = first; other < first + count; ++other) {
        if (other != slot) row.push_back(distances_.distance(slot, other));
      }
      std::sort(row.begin(), row.end());
      lower(result, row);
      if (distances_.uniform(distances_.form(node))) break;
    }
    return result;
  }

  // The lower of both, one by one; what only one has is kept.
  static void lower(std::vector<double>& values, const std::vector<double>& others) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (i == values.size()) values.push_back(others[i]);
      values[i] = std::min(values[i], others[i]);
    }
  }

  void take(const std::vector<std::pair<double, Slot>>& groups) {
    std::size_t next = 0;
    for (const auto& [distance, slots] : groups) {
      for (Slot i = 0; i < slots && next < least_.size(); ++i, ++next) {
        least_[next] = least_[next] < 0 ? distance : std::min(least_[next], distance);
      }
    }
  }

  const Distances& distances_;
  std::vector<double> least_;
};

}  // namespace

double lower_bound(const topo::Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints) {
  std::size_t most = 0;
  for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) most = std::max(most, affinity.neighbours(rank).size());
  const Distances distances(tree, constraints);
  const NearestSlots nearest(distances, most);
  double sum = 0;
  std::vector<double> weights;
  for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto row = affinity.weights_of(rank);
    weights.assign(row.begin(), row.end());
    std::sort(weights.begin(), weights.end(), std::greater<>());
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] / 2 * nearest.least()[i];
  }
  return sum;
}

}  // namespace ranktree::core::place::network
