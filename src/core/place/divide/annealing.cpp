#include "core/place/divide/annealing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/divide/balancing.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

double cut_of(const Guide& graph, std::span<const Vertex> part_of) {
  double cut = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const GuideArc& arc : graph.arcs_of(vertex)) {
      if (part_of[at(arc.to)] != part_of[at(vertex)]) cut += arc.weight;
    }
  }
  return cut;
}

// What a worsening may be, in units of the temperature, by a random number.
class Thresholds {
 public:
  static constexpr std::uint64_t kCount = 4096;

  Thresholds() {
    for (std::size_t i = 0; i < kCount; ++i) {
      threshold_[i] = static_cast<float>(-std::log((static_cast<double>(i) + 0.5) / kCount));
    }
  }
  [[nodiscard]] double operator[](std::uint64_t draw) const { return threshold_[draw % kCount]; }

 private:
  std::array<float, kCount> threshold_{};
};

const Thresholds& thresholds() {
  static const Thresholds table;
  return table;
}

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

struct Climate {
  double temperature;
  double tightness;  // cost of a vertex too many or too few, squared
  double trials;     // for each vertex on a border
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

// The vertices on borders between parts, and how they move.
class Borders {
 public:
  // `surplus`: by how much each part is too large.
  Borders(const Guide& graph, std::vector<Vertex>& part_of, std::vector<std::int32_t>& surplus, std::uint64_t seed)
      : graph_(graph),
        part_of_(part_of),
        surplus_(surplus),
        random_(seed),
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

  [[nodiscard]] std::size_t size() const { return border_.size(); }

  void run(const Climate& climate, std::int64_t trials) {
    for (std::int64_t i = 0; i < trials && !border_.empty(); ++i) try_move(climate);
  }

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

  // One draw: its upper half chooses the vertex, then 20 bits the arc, 12 the threshold. Most moves are refused, if
  // possible before any arc is looked at: a vertex is not tied to one other part more than to all of them.
  void try_move(const Climate& climate) {
    const std::uint64_t draw = random_.next();
    const Vertex vertex = border_[(draw >> 32U) * border_.size() >> 32U];
    const Vertex from = part_of_[at(vertex)];
    const Ties ties = ties_[at(vertex)];
    const auto most = [&](std::int32_t surplus) {  // that the cut may grow
      return climate.temperature * thresholds_[draw] - 2 * climate.tightness * (surplus - surplus_[at(from)] + 1);
    };
    if (ties.own - ties.others > most(least_surplus_)) return;
    const auto arcs = graph_.arcs_of(vertex);
    const Vertex to = part_of_[at(arcs[((draw >> 12U) & 0xfffffU) * arcs.size() >> 20U].to)];
    if (from == to || ties.own - ties.others > most(surplus_[at(to)])) return;
    double joined = 0;
    for (const GuideArc& arc : arcs) joined += part_of_[at(arc.to)] == to ? arc.weight : 0.0F;
    if (ties.own - joined <= most(surplus_[at(to)])) move(vertex, from, to, joined);
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
  std::vector<Vertex>& part_of_;
  std::vector<std::int32_t>& surplus_;
  std::int32_t least_surplus_ = 0;  // or less
  Random random_;
  const Thresholds& thresholds_ = thresholds();
  std::vector<std::int32_t> outside_;  // by vertex: arcs to other parts
  std::vector<std::int32_t> place_;    // on the border, -1: not there
  std::vector<Ties> ties_;
  std::vector<Vertex> border_;
};

// A graph at falling temperatures.
class Annealing {
 public:
  Annealing(const Guide& graph, Vertex parts, AnnealingEffort effort, const std::vector<Vertex>& part_of)
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

  // False when it falls to pieces or the workers are to stop.
  bool run(Workers& workers, std::vector<Vertex>& part_of, std::vector<std::int32_t>& surplus) const {
    constexpr std::int64_t kAtOnce = 4096;
    const double before = cut_of(graph_, part_of);
    Borders borders(graph_, part_of, surplus, effort_.seed);
    const auto degree = static_cast<std::int64_t>(graph_.arcs.size() / graph_.size.size());
    bool first = true;
    for (const Climate& climate : schedule()) {
      auto trials = static_cast<std::int64_t>(static_cast<double>(borders.size()) * climate.trials);
      for (; trials > 0; trials -= kAtOnce) {
        borders.run(climate, std::min(trials, kAtOnce));
        if (!workers.go_on(std::min(trials, kAtOnce) * (degree + 1))) return false;
      }
      if (std::exchange(first, false) && cut_of(graph_, part_of) > kMolten * before) return false;
    }
    return true;
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

  [[nodiscard]] std::vector<Climate> schedule() const {
    const double hot = std::clamp(kHeat * std::sqrt(trials()), kLeastHot, kMostHot);
    const double rigid = typical_ * std::sqrt(static_cast<double>(parts_) / static_cast<double>(graph_.size.size()));
    const int phases = std::clamp(static_cast<int>(trials() / kTrialsOfPhase), 8, 32);
    std::vector<Climate> climates;
    for (int phase = 0; phase < phases; ++phase) {
      const double share = static_cast<double>(phase) / (phases - 1);
      climates.push_back({typical_ * hot * std::pow(kCold / hot, share),
                          rigid * kLoose * std::pow(kTight / kLoose, share), trials() / phases});
    }
    return climates;
  }

  const Guide& graph_;
  Vertex parts_;
  AnnealingEffort effort_;
  std::int64_t border_ = 0;  // vertices on it
  double typical_ = 0;       // what a move across it makes worse
};

}  // namespace

bool anneal(const Guide& graph, Vertex parts, AnnealingEffort effort, Workers& workers, std::vector<Vertex>& part_of) {
  const double before = cut_of(graph, part_of);
  if (before == 0 || effort.trials <= 0 || at(parts) > kMostParts) return false;
  const Annealing annealing(graph, parts, effort, part_of);
  if (annealing.trials() < kFewestTrials) return false;
  std::vector<Vertex> found = part_of;
  std::vector<std::int32_t> surplus(at(parts), 0);
  if (!annealing.run(workers, found, surplus) || !workers.check_now()) return false;
  if (!balance(graph, workers, surplus, found) || cut_of(graph, found) >= before * (1 - 1e-6)) return false;
  part_of = std::move(found);
  return true;
}

}  // namespace ranktree::core::place::engine
