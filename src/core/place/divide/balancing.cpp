#include "core/place/divide/balancing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

class Balancing {
 public:
  Balancing(const Guide& graph, Workers& workers, std::vector<std::int32_t>& surplus, std::vector<Vertex>& part_of)
      : graph_(graph),
        workers_(workers),
        surplus_(surplus),
        part_of_(part_of),
        parts_(surplus.size()),
        members_(parts_),
        stale_(parts_, 1),
        steps_(parts_ * parts_),
        targets_(parts_) {
    for (std::size_t i = 0; i < part_of.size(); ++i) members_[at(part_of[i])].push_back(static_cast<Vertex>(i));
  }

  // False when no chain is left though some are needed.
  bool run() {
    while (std::any_of(surplus_.begin(), surplus_.end(), [](std::int32_t surplus) { return surplus > 0; })) {
      collect_steps();
      find_chains();
      if (!follow_chains()) return false;
    }
    return true;
  }

 private:
  struct Step {
    double loss = std::numeric_limits<double>::infinity();
    Vertex vertex = -1;
  };
  Step& step(std::size_t from, std::size_t to) { return steps_[from * parts_ + to]; }

  // The cheapest move from each part to each other one, of parts where something changed.
  void collect_steps() {
    std::vector<std::size_t> stale;
    for (std::size_t part = 0; part < parts_; ++part) {
      if (std::exchange(stale_[part], std::uint8_t{0}) != 0) stale.push_back(part);
    }
    workers_.for_each(static_cast<int>(stale.size()),
                      static_cast<std::int64_t>(graph_.arcs.size() * stale.size() / parts_),
                      [&](int i) { collect_steps_from(stale[at(i)]); });
  }

  [[nodiscard]] bool is_on_border(Vertex vertex) const {
    const auto arcs = graph_.arcs_of(vertex);
    return std::any_of(arcs.begin(), arcs.end(),
                       [&](const GuideArc& arc) { return part_of_[at(arc.to)] != part_of_[at(vertex)]; });
  }

  // The vertex of the lowest number where several are as cheap.
  void collect_steps_from(std::size_t from) {
    for (const std::size_t to : targets_[from]) step(from, to) = {};
    targets_[from].clear();
    std::vector<double> tie(parts_, 0);
    for (const Vertex vertex : members_[from]) {
      if (is_on_border(vertex)) collect_steps_of(vertex, from, tie);
    }
    std::sort(targets_[from].begin(), targets_[from].end());
  }

  // `tie`: by part, 0 before and afterwards.
  void collect_steps_of(Vertex vertex, std::size_t from, std::vector<double>& tie) {
    for (const GuideArc& arc : graph_.arcs_of(vertex)) tie[at(part_of_[at(arc.to)])] += arc.weight;
    for (const GuideArc& arc : graph_.arcs_of(vertex)) {
      const auto to = at(part_of_[at(arc.to)]);
      if (to == from) continue;
      Step& best = step(from, to);
      if (best.vertex < 0) targets_[from].push_back(to);
      const double loss = tie[from] - tie[to];
      if (loss < best.loss || (loss == best.loss && vertex < best.vertex)) best = {loss, vertex};
    }
    for (const GuideArc& arc : graph_.arcs_of(vertex)) tie[at(part_of_[at(arc.to)])] = 0;
  }

  void move(Vertex vertex, std::size_t from, std::size_t to) {
    part_of_[at(vertex)] = static_cast<Vertex>(to);
    std::erase(members_[from], vertex);
    members_[to].push_back(vertex);
    --surplus_[from];
    ++surplus_[to];
    stale_[from] = stale_[to] = 1;
    for (const GuideArc& arc : graph_.arcs_of(vertex)) stale_[at(part_of_[at(arc.to)])] = 1;
  }

  [[nodiscard]] bool leads_to(std::size_t part, std::size_t earlier) const {
    for (std::int64_t i = static_cast<std::int64_t>(part); i >= 0; i = before_[at(i)]) {
      if (at(i) == earlier) return true;
    }
    return false;
  }

  // Bellman and Ford, without closing circles, which losses below 0 would invite to.
  void find_chains() {
    loss_.assign(parts_, std::numeric_limits<double>::infinity());
    before_.assign(parts_, -1);
    for (std::size_t part = 0; part < parts_; ++part) {
      if (surplus_[part] > 0) loss_[part] = 0;
    }
    bool changed = true;
    for (std::size_t round = 0; round < parts_ && changed; ++round) {
      changed = false;
      for (std::size_t from = 0; from < parts_; ++from) {
        if (loss_[from] == std::numeric_limits<double>::infinity()) continue;
        for (const std::size_t to : targets_[from]) {
          if (surplus_[to] > 0 || !(loss_[from] + step(from, to).loss < loss_[to]) || leads_to(from, to)) continue;
          loss_[to] = loss_[from] + step(from, to).loss;
          before_[to] = static_cast<std::int64_t>(from);
          changed = true;
        }
      }
    }
  }

  // The cheapest first; those that touch what another one touched have to wait.
  bool follow_chains() {
    std::vector<std::size_t> ends;
    for (std::size_t part = 0; part < parts_; ++part) {
      if (surplus_[part] < 0 && before_[part] >= 0) ends.push_back(part);
    }
    std::stable_sort(ends.begin(), ends.end(), [&](std::size_t a, std::size_t b) { return loss_[a] < loss_[b]; });
    std::vector<std::uint8_t> touched(parts_, 0);
    for (const std::size_t end : ends) {
      bool free = true;
      for (auto part = static_cast<std::int64_t>(end); part >= 0; part = before_[at(part)])
        free = free && touched[at(part)] == 0;
      if (!free) continue;
      for (auto part = static_cast<std::int64_t>(end); part >= 0; part = before_[at(part)]) {
        touched[at(part)] = 1;
        const std::int64_t from = before_[at(part)];
        if (from < 0) continue;
        move(step(at(from), at(part)).vertex, at(from), at(part));
      }
    }
    return !ends.empty();
  }

  const Guide& graph_;
  Workers& workers_;
  std::vector<std::int32_t>& surplus_;
  std::vector<Vertex>& part_of_;
  std::size_t parts_;
  std::vector<std::vector<Vertex>> members_;       // of each part
  std::vector<std::uint8_t> stale_;                // parts whose steps may have changed
  std::vector<Step> steps_;                        // from x to
  std::vector<std::vector<std::size_t>> targets_;  // of the steps there are, ascending
  std::vector<double> loss_;
  std::vector<std::int64_t> before_;
};

}  // namespace

bool balance(const Guide& graph, Workers& workers, std::vector<std::int32_t>& surplus, std::vector<Vertex>& part_of) {
  return Balancing(graph, workers, surplus, part_of).run();
}

}  // namespace ranktree::core::place::engine
