#include "core/place/engine/pair_refinement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
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
  PairRefiner(const Guide& graph, std::span<const std::int64_t> capacities, Bisections& bisections,
              std::vector<Vertex>& part_of)
      : graph_(graph),
        capacities_(capacities),
        bisections_(bisections),
        part_of_(part_of),
        members_(capacities.size()),
        active_(capacities.size(), 1),
        changed_(capacities.size(), 0),
        local_(part_of.size()) {
    for (std::size_t i = 0; i < part_of.size(); ++i) members_[at(part_of[i])].push_back(static_cast<Vertex>(i));
  }

  // False when nothing changed.
  bool round(std::uint64_t seed) {
    std::fill(changed_.begin(), changed_.end(), std::uint8_t{0});
    bool any = false;
    std::vector<Pair> waiting = pairs();
    for (std::uint64_t batch = 0; !waiting.empty(); ++batch)
      any = refine_disjoint(waiting, seed_of(seed, batch)) || any;
    active_ = changed_;
    return any;
  }

 private:
  // Takes the first pairs that have no part in common.
  bool refine_disjoint(std::vector<Pair>& waiting, std::uint64_t seed) {
    std::vector<std::uint8_t> taken(capacities_.size(), 0);
    std::vector<Pair> chosen;
    std::vector<Pair> later;
    for (const Pair& pair : waiting) {
      const bool free = (taken[at(pair.left)] | taken[at(pair.right)]) == 0;
      (free ? chosen : later).push_back(pair);
      if (free) taken[at(pair.left)] = taken[at(pair.right)] = 1;
    }
    waiting = std::move(later);
    std::vector<Attempt> attempts(chosen.size());
    const auto share = static_cast<double>(2 * chosen.size()) / static_cast<double>(capacities_.size());
    bisections_.workers().for_each(
        static_cast<int>(chosen.size()), static_cast<std::int64_t>(share * static_cast<double>(graph_.arcs.size())),
        [&](int i) { attempts[at(i)] = attempt(chosen[at(i)], seed_of(seed, static_cast<std::uint64_t>(i))); });
    bool any = false;
    for (std::size_t i = 0; i < chosen.size(); ++i) any = apply(chosen[i], attempts[i]) || any;
    return any;
  }

  // The heaviest few for each part of which one is active; ties in the order of the parts.
  [[nodiscard]] std::vector<Pair> pairs() const {
    constexpr std::size_t kPairsOfPart = 8;
    const Guide parts = contract(graph_, part_of_, static_cast<Vertex>(capacities_.size()), bisections_.workers());
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

  struct Attempt {
    bool better = false;
    std::vector<Vertex> both;
    Sides sides;
  };

  // Reads parts that others do not change meanwhile.
  Attempt attempt(const Pair& pair, std::uint64_t seed) {
    const auto& left = members_[at(pair.left)];
    const auto& right = members_[at(pair.right)];
    Attempt result{false, left, Sides(left.size() + right.size(), 0)};
    auto& both = result.both;
    both.insert(both.end(), right.begin(), right.end());
    for (std::size_t i = 0; i < both.size(); ++i) local_[at(both[i])] = static_cast<Vertex>(i);
    std::fill(result.sides.begin() + static_cast<std::ptrdiff_t>(left.size()), result.sides.end(), std::uint8_t{1});
    Guide graph;
    graph.size.assign(both.size(), 1);
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
    result.better = bisections_.lend(seed)->improve(graph, window, result.sides);
    return result;
  }

  bool apply(const Pair& pair, const Attempt& attempt) {
    if (!attempt.better) return false;
    auto& left = members_[at(pair.left)];
    auto& right = members_[at(pair.right)];
    left.clear();
    right.clear();
    for (std::size_t i = 0; i < attempt.both.size(); ++i) {
      const Vertex vertex = attempt.both[i];
      (attempt.sides[i] == 0 ? left : right).push_back(vertex);
      part_of_[at(vertex)] = attempt.sides[i] == 0 ? pair.left : pair.right;
    }
    changed_[at(pair.left)] = changed_[at(pair.right)] = 1;
    return true;
  }

  const Guide& graph_;
  std::span<const std::int64_t> capacities_;
  Bisections& bisections_;
  std::vector<Vertex>& part_of_;
  std::vector<std::vector<Vertex>> members_;
  std::vector<std::uint8_t> active_, changed_;
  std::vector<Vertex> local_;
};

}  // namespace

void refine_pairs(const Guide& graph, std::span<const std::int64_t> capacities, int rounds, std::uint64_t seed,
                  Bisections& bisections, std::vector<Vertex>& part_of) {
  PairRefiner refiner(graph, capacities, bisections, part_of);
  for (int i = 0; i < rounds && refiner.round(seed_of(seed, static_cast<std::uint64_t>(i))); ++i) {
  }
}

}  // namespace ranktree::core::place::engine
