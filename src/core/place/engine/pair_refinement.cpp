#include "core/place/engine/pair_refinement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/place/engine/bisection.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Pair {
  double weight;
  Vertex left, right;
};

class PairRefiner {
 public:
  PairRefiner(const Guide& graph, std::span<const std::int64_t> capacities, Bisection& bisection,
              std::vector<Vertex>& part_of)
      : graph_(graph),
        capacities_(capacities),
        bisection_(bisection),
        part_of_(part_of),
        members_(capacities.size()),
        active_(capacities.size(), 1),
        changed_(capacities.size(), 0),
        local_(part_of.size()) {
    for (std::size_t i = 0; i < part_of.size(); ++i) members_[at(part_of[i])].push_back(static_cast<Vertex>(i));
  }

  // False when nothing changed.
  bool round() {
    std::fill(changed_.begin(), changed_.end(), std::uint8_t{0});
    bool any = false;
    for (const Pair& pair : pairs()) any = refine(pair) || any;
    active_ = changed_;
    return any;
  }

 private:
  // The heaviest few for each part of which one is active; ties in the order of the parts.
  [[nodiscard]] std::vector<Pair> pairs() const {
    constexpr std::size_t kPairsOfPart = 8;
    const Guide parts = contract(graph_, part_of_, static_cast<Vertex>(capacities_.size()));
    std::vector<Pair> pairs;
    for (Vertex left = 0; left < parts.vertices(); ++left) {
      for (const GuideArc& arc : parts.arcs_of(left)) {
        if (arc.to > left && (active_[at(left)] | active_[at(arc.to)]) != 0)
          pairs.push_back({arc.weight, left, arc.to});
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.weight > b.weight; });
    pairs.resize(std::min(pairs.size(), kPairsOfPart * capacities_.size()));
    return pairs;
  }

  bool refine(const Pair& pair) {
    auto& left = members_[at(pair.left)];
    auto& right = members_[at(pair.right)];
    std::vector<Vertex> both(left);
    both.insert(both.end(), right.begin(), right.end());
    for (std::size_t i = 0; i < both.size(); ++i) local_[at(both[i])] = static_cast<Vertex>(i);
    Guide graph;
    graph.size.assign(both.size(), 1);
    Sides sides(both.size(), 0);
    std::fill(sides.begin() + static_cast<std::ptrdiff_t>(left.size()), sides.end(), std::uint8_t{1});
    for (const Vertex vertex : both) {
      for (const GuideArc& arc : graph_.arcs_of(vertex)) {
        const Vertex part = part_of_[at(arc.to)];
        if (part == pair.left || part == pair.right) graph.arcs.push_back({local_[at(arc.to)], arc.weight});
      }
      graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
    }
    const auto total = static_cast<std::int64_t>(both.size());
    const Window window{std::max<std::int64_t>(0, total - capacities_[at(pair.right)]),
                        std::min(total, capacities_[at(pair.left)])};
    if (!bisection_.improve(graph, window, sides)) return false;
    left.clear();
    right.clear();
    for (std::size_t i = 0; i < both.size(); ++i) {
      (sides[i] == 0 ? left : right).push_back(both[i]);
      part_of_[at(both[i])] = sides[i] == 0 ? pair.left : pair.right;
    }
    changed_[at(pair.left)] = changed_[at(pair.right)] = 1;
    return true;
  }

  const Guide& graph_;
  std::span<const std::int64_t> capacities_;
  Bisection& bisection_;
  std::vector<Vertex>& part_of_;
  std::vector<std::vector<Vertex>> members_;
  std::vector<std::uint8_t> active_, changed_;
  std::vector<Vertex> local_;
};

}  // namespace

void refine_pairs(const Guide& graph, std::span<const std::int64_t> capacities, int rounds, Bisection& bisection,
                  std::vector<Vertex>& part_of) {
  PairRefiner refiner(graph, capacities, bisection, part_of);
  for (int i = 0; i < rounds && refiner.round(); ++i) {
  }
}

}  // namespace ranktree::core::place::engine
