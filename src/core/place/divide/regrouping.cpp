#include "core/place/divide/regrouping.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
namespace {

using Set = std::vector<Vertex>;  // of parts, ascending

class Regrouping {
 public:
  Regrouping(const Guide& graph, Vertex parts, Workers& workers, const DivideAmong& divide,
             std::vector<Vertex>& part_of)
      : graph_(graph),
        workers_(workers),
        divide_(divide),
        part_of_(part_of),
        members_(at(parts)),
        active_(at(parts), 1),
        local_(part_of.size()) {
    for (std::size_t i = 0; i < part_of.size(); ++i) members_[at(part_of[i])].push_back(static_cast<Vertex>(i));
  }

  // False when nothing changed.
  bool round(std::uint64_t seed) {
    bool any = false;
    std::vector<Set> waiting = sets();
    std::fill(active_.begin(), active_.end(), std::uint8_t{0});
    for (std::uint64_t batch = 0; !waiting.empty(); ++batch) {
      any = divide_disjoint(waiting, seed_of(seed, batch)) || any;
    }
    return any;
  }

 private:
  struct Attempt {
    bool better = false;
    std::vector<Vertex> vertices, part_of;
  };

  // For each part, it and those that are tied most to the set so far, the first of equals. Only sets of which a part
  // has changed in the round before.
  [[nodiscard]] std::vector<Set> sets() const {
    constexpr std::size_t kParts = 4;
    const Guide parts = contract(graph_, part_of_, static_cast<Vertex>(members_.size()), workers_);
    std::vector<Set> sets;
    std::vector<float> tie(members_.size());
    for (Vertex first = 0; first < parts.vertices(); ++first) {
      Set set;
      std::fill(tie.begin(), tie.end(), 0.0F);
      for (Vertex next = first; set.size() < kParts;) {
        set.push_back(next);
        for (const GuideArc& arc : parts.arcs_of(next)) tie[at(arc.to)] += arc.weight;
        for (const Vertex part : set) tie[at(part)] = 0;
        const auto strongest = std::max_element(tie.begin(), tie.end());
        if (*strongest <= 0) break;
        next = static_cast<Vertex>(strongest - tie.begin());
      }
      std::sort(set.begin(), set.end());
      const bool any_active = std::any_of(set.begin(), set.end(), [&](Vertex part) { return active_[at(part)] != 0; });
      if (!any_active || set.size() == 1 || std::find(sets.begin(), sets.end(), set) != sets.end()) continue;
      sets.push_back(std::move(set));
    }
    return sets;
  }

  // Takes the first sets that have no part in common.
  bool divide_disjoint(std::vector<Set>& waiting, std::uint64_t seed) {
    std::vector<std::uint8_t> taken(members_.size(), 0);
    std::vector<Set> chosen;
    std::vector<Set> later;
    for (Set& set : waiting) {
      const bool free = std::all_of(set.begin(), set.end(), [&](Vertex part) { return taken[at(part)] == 0; });
      if (free) {
        for (const Vertex part : set) taken[at(part)] = 1;
      }
      (free ? chosen : later).push_back(std::move(set));
    }
    waiting = std::move(later);
    std::vector<Attempt> attempts(chosen.size());
    const auto steps = static_cast<std::int64_t>(10 * graph_.arcs.size());
    workers_.for_each(static_cast<int>(chosen.size()), steps, [&](int i) {
      attempts[at(i)] = attempt(chosen[at(i)], seed_of(seed, static_cast<std::uint64_t>(i)));
    });
    bool any = false;
    for (std::size_t i = 0; i < chosen.size(); ++i) any = apply(chosen[i], attempts[i]) || any;
    return any;
  }

  // Reads parts that others do not change meanwhile.
  Attempt attempt(const Set& set, std::uint64_t seed) {
    Attempt result;
    for (const Vertex part : set) {
      const auto& members = members_[at(part)];
      result.vertices.insert(result.vertices.end(), members.begin(), members.end());
    }
    if (!workers_.go_on(1)) return result;
    std::sort(result.vertices.begin(), result.vertices.end());
    const Guide graph = graph_among(set, result.vertices);
    std::vector<Vertex> now;
    now.reserve(result.vertices.size());
    for (const Vertex vertex : result.vertices) now.push_back(part_of_[at(vertex)]);
    result.part_of = divide_(set, graph, seed);
    result.better = cut_of(graph, result.part_of) < cut_of(graph, now) * (1 - 1e-6);
    return result;
  }

  Guide graph_among(const Set& set, std::span<const Vertex> vertices) {
    for (std::size_t i = 0; i < vertices.size(); ++i) local_[at(vertices[i])] = static_cast<Vertex>(i);
    Guide graph;
    graph.size.assign(vertices.size(), 1);
    for (const Vertex vertex : vertices) {
      for (const GuideArc& arc : graph_.arcs_of(vertex)) {
        const Vertex part = part_of_[at(arc.to)];
        if (std::find(set.begin(), set.end(), part) != set.end()) {
          graph.arcs.push_back({local_[at(arc.to)], arc.weight});
        }
      }
      graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
    }
    return graph;
  }

  bool apply(const Set& set, const Attempt& attempt) {
    if (!attempt.better) return false;
    for (const Vertex part : set) {
      members_[at(part)].clear();
      active_[at(part)] = 1;
    }
    for (std::size_t i = 0; i < attempt.vertices.size(); ++i) {
      part_of_[at(attempt.vertices[i])] = attempt.part_of[i];
      members_[at(attempt.part_of[i])].push_back(attempt.vertices[i]);
    }
    return true;
  }

  const Guide& graph_;
  Workers& workers_;
  const DivideAmong& divide_;
  std::vector<Vertex>& part_of_;
  std::vector<std::vector<Vertex>> members_;
  std::vector<std::uint8_t> active_;  // parts that the last round changed
  std::vector<Vertex> local_;
};

}  // namespace

void regroup(const Guide& graph, Vertex parts, RegroupEffort effort, Workers& workers, const DivideAmong& divide,
             std::vector<Vertex>& part_of) {
  Regrouping regrouping(graph, parts, workers, divide, part_of);
  for (int i = 0; i < effort.rounds; ++i) {
    if (!regrouping.round(seed_of(effort.seed, static_cast<std::uint64_t>(i)))) break;
  }
}

}  // namespace ranktree::core::place::engine
