#include "core/place/divide/annealing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/graph/graph.h"
#include "core/place/refine/annealing.h"

namespace ranktree::core::place::engine {
namespace {

constexpr double kFewestTrials = 20;  // for a vertex on a border, with which it is worth beginning
constexpr double kTrialsOfPhase = 20;
constexpr std::size_t kMostParts = 512;  // chains are looked for among all pairs of them
// In units of what a move across a border makes worse typically.
constexpr double kHeat = 0.012;  // the first temperature, over the root of the trials ...
constexpr double kLeastHot = 0.08;
constexpr double kMostHot = 0.35;
constexpr double kCold = 0.07;   // ... and the last
constexpr double kLoose = 0.4;   // the first tightness, times the root of what a part holds ...
constexpr double kTight = 0.7;   // ... and the last
constexpr double kMolten = 1.5;  // times the cut: the first temperature was too hot

// Of a value that falls or rises by the same factor from phase to phase: the first, and the last over it.
struct Course {
  double first;
  double ratio;
  [[nodiscard]] double of(double share) const { return first * std::pow(ratio, share); }
};

struct Schedule {
  Course temperature;
  Course tightness;  // cost of a vertex too many or too few, squared
  double trials;     // in each phase, for each vertex on a border
};

// What moving a vertex from a part to another one adds to the cut.
double worsening(std::span<const GuideArc> arcs, const std::vector<Vertex>& part_of, Vertex from, Vertex to) {
  double worse = 0;
  for (const GuideArc& arc : arcs) {
    const Vertex part = part_of[at(arc.to)];
    worse += part == from ? arc.weight : part == to ? -arc.weight : 0.0F;
  }
  return worse;
}

// The vertices on borders between parts, and how they move; the state of anneal().
class Borders {
 public:
  // `surplus`: by how much each part is too large.
  Borders(const Guide& graph, const Schedule& schedule, std::uint64_t seed, std::vector<Vertex>& part_of,
          std::vector<std::int32_t>& surplus)
      : graph_(graph),
        schedule_(schedule),
        part_of_(part_of),
        surplus_(surplus),
        random_(seed),
        before_(cut_of(graph, part_of)),
        outside_(part_of.size(), 0),
        place_(part_of.size(), -1),
        ties_(part_of.size()) {
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      for (const GuideArc& arc : graph.arcs_of(vertex)) {
        const bool outside = part_of[at(arc.to)] != part_of[at(vertex)];
        outside_[at(vertex)] += outside ? 1 : 0;
        (outside ? ties_[at(vertex)].others : ties_[at(vertex)].own) += arc.weight;
      }
      if (outside_[at(vertex)] > 0) join_border(vertex);
      least_surplus_ = std::min(least_surplus_, surplus[at(part_of[at(vertex)])]);
    }
  }

  std::int64_t open_phase(double share) {
    temperature_ = schedule_.temperature.of(share);
    tightness_ = schedule_.tightness.of(share);
    return static_cast<std::int64_t>(static_cast<double>(border_.size()) * schedule_.trials);
  }

  // One draw: its upper half chooses the vertex, then 20 bits the arc, 12 the threshold. Most moves are refused, if
  // possible before any arc is looked at: a vertex is not tied to one other part more than to all of them.
  void try_move() {
    if (border_.empty()) return;
    const std::uint64_t draw = random_.next();
    const Vertex vertex = border_[(draw >> 32U) * border_.size() >> 32U];
    const Vertex from = part_of_[at(vertex)];
    const Ties ties = ties_[at(vertex)];
    const auto most = [&](std::int32_t surplus) {  // that the cut may grow
      return temperature_ * thresholds_[draw] - 2 * tightness_ * (surplus - surplus_[at(from)] + 1);
    };
    if (ties.own - ties.others > most(least_surplus_)) return;
    const auto arcs = graph_.arcs_of(vertex);
    const Vertex to = part_of_[at(arcs[((draw >> 12U) & 0xfffffU) * arcs.size() >> 20U].to)];
    if (from == to || ties.own - ties.others > most(surplus_[at(to)])) return;
    double joined = 0;
    for (const GuideArc& arc : arcs) joined += part_of_[at(arc.to)] == to ? arc.weight : 0.0F;
    if (ties.own - joined <= most(surplus_[at(to)])) move(vertex, from, to, joined);
  }

  // Gives up where the first phase was so hot that the division fell to pieces.
  bool close_phase() { return !std::exchange(first_, false) || cut_of(graph_, part_of_) <= kMolten * before_; }

 private:
  void join_border(Vertex vertex) {
    place_[at(vertex)] = static_cast<std::int32_t>(border_.size());
    border_.push_back(vertex);
  }
  void leave_border(Vertex vertex) {
    const std::int32_t place = std::exchange(place_[at(vertex)], -1);
    const Vertex last = border_.back();
    border_.pop_back();
    if (last == vertex) return;
    border_[at(place)] = last;
    place_[at(last)] = place;
  }

  void move(Vertex vertex, Vertex from, Vertex to, double joined) {
    part_of_[at(vertex)] = to;
    ties_[at(vertex)] = {joined, ties_[at(vertex)].own + ties_[at(vertex)].others - joined};
    --surplus_[at(from)];
    ++surplus_[at(to)];
    least_surplus_ = std::min(least_surplus_, surplus_[at(from)]);
    for (const GuideArc& arc : graph_.arcs_of(vertex)) {
      const Vertex part = part_of_[at(arc.to)];
      if (part == from) {
        ++outside_[at(vertex)];
        shift(arc.to, -arc.weight);
        if (outside_[at(arc.to)]++ == 0) join_border(arc.to);
      } else if (part == to) {
        --outside_[at(vertex)];
        shift(arc.to, arc.weight);
        if (--outside_[at(arc.to)] == 0) leave_border(arc.to);
      }
    }
    if (outside_[at(vertex)] == 0) leave_border(vertex);
  }

  // What a vertex is tied to in its own part and in others.
  struct Ties {
    double own = 0;
    double others = 0;
  };
  void shift(Vertex vertex, double to_own) {
    ties_[at(vertex)].own += to_own;
    ties_[at(vertex)].others -= to_own;
  }

  const Guide& graph_;
  const Schedule& schedule_;
  std::vector<Vertex>& part_of_;
  std::vector<std::int32_t>& surplus_;
  std::int32_t least_surplus_ = 0;  // or less
  Random random_;
  double before_;  // the cut
  bool first_ = true;
  double temperature_ = 0;
  double tightness_ = 0;
  const Thresholds& thresholds_ = thresholds();
  std::vector<std::int32_t> outside_;  // by vertex: arcs to other parts
  std::vector<std::int32_t> place_;    // on the border, -1: not there
  std::vector<Ties> ties_;
  std::vector<Vertex> border_;
};

// How much time a division gets, and how hot it is.
class Planning {
 public:
  Planning(const Guide& graph, Vertex parts, AnnealingEffort effort, const std::vector<Vertex>& part_of)
      : graph_(graph), parts_(parts), effort_(effort) {
    survey(part_of);
  }

  // How often each vertex on a border is tried; too few: it is not worth beginning.
  [[nodiscard]] double trials() const {
    if (typical_ <= 0) return 0;
    const double degree = static_cast<double>(graph_.arcs.size()) / static_cast<double>(graph_.size.size());
    const double most = static_cast<double>(effort_.steps) / (2 * degree) / static_cast<double>(border_);
    return std::min<double>(effort_.trials, most);
  }

  [[nodiscard]] int phases() const { return std::clamp(static_cast<int>(trials() / kTrialsOfPhase), 8, 32); }

  [[nodiscard]] Schedule schedule() const {
    const double hot = std::clamp(kHeat * std::sqrt(trials()), kLeastHot, kMostHot);
    const double rigid = typical_ * std::sqrt(static_cast<double>(parts_) / static_cast<double>(graph_.size.size()));
    return {{typical_ * hot, kCold / hot}, {rigid * kLoose, kTight / kLoose}, trials() / phases()};
  }

 private:
  // The border, and the mean of what moves across it make worse.
  void survey(const std::vector<Vertex>& part_of) {
    double sum = 0;
    for (Vertex vertex = 0; vertex < graph_.vertices(); ++vertex) {
      const auto arcs = graph_.arcs_of(vertex);
      const Vertex from = part_of[at(vertex)];
      const auto outside =
          std::find_if(arcs.begin(), arcs.end(), [&](const GuideArc& arc) { return part_of[at(arc.to)] != from; });
      if (outside == arcs.end()) continue;
      sum += std::abs(worsening(arcs, part_of, from, part_of[at(outside->to)]));
      ++border_;
    }
    typical_ = border_ > 0 ? sum / static_cast<double>(border_) : 0;
  }

  const Guide& graph_;
  Vertex parts_;
  AnnealingEffort effort_;
  std::int64_t border_ = 0;  // vertices on it
  double typical_ = 0;       // what a move across it makes worse
};

// Moves single vertices along the cheapest chains of parts, from one that is too large to one that is too small, until
// no part has a surplus. O(parts^2) memory.
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

bool anneal_borders(const Guide& graph, Vertex parts, AnnealingEffort effort, Workers& workers,
                    std::vector<Vertex>& part_of) {
  const double before = cut_of(graph, part_of);
  if (before == 0 || effort.trials <= 0 || at(parts) > kMostParts) return false;
  const Planning planning(graph, parts, effort, part_of);
  if (planning.trials() < kFewestTrials) return false;
  const Schedule schedule = planning.schedule();
  std::vector<Vertex> found = part_of;
  std::vector<std::int32_t> surplus(at(parts), 0);
  Borders borders(graph, schedule, effort.seed, found, surplus);
  const auto steps = static_cast<std::int64_t>(graph.arcs.size() / graph.size.size()) + 1;  // of a trial
  const auto go_on = [&](std::int64_t trials) { return workers.go_on(trials * steps); };
  if (!anneal(borders, planning.phases(), go_on) || !workers.check_now()) return false;
  if (!Balancing(graph, workers, surplus, found).run() || cut_of(graph, found) >= before * (1 - 1e-6)) return false;
  part_of = std::move(found);
  return true;
}

}  // namespace ranktree::core::place::engine
